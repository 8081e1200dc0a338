"""How methods look in figures: the same in all of them."""

# Okabe and Ito's colours, which colour-blind readers can tell apart; markers for print in black and white.
LOOKS = {
    "ours": ("#D55E00", "o"),
    "upper": ("#000000", "^"),
    "upper on recorded features": ("#777777", "^"),
    "lower": ("#0072B2", "v"),
    "unawareness": ("#009E73", "s"),
    "massaging": ("#CC79A7", "D"),
    "parity": ("#E69F00", "X"),
    # Programs of the student study that assume less.
    "no positive bias": ("#56B4E9", "P"),
    "no bias on A = 0": ("#999999", "h"),
    # Single attributes of the face study.
    "only high_cheekbones": ("#CC79A7", "s"),
    "only blurry": ("#E69F00", "D"),
    "only smiling": ("#009E73", "P"),
}
