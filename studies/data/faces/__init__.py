"""Pictures of faces: what the drawn ones and the photographed ones have in common, and how the drawn ones are made."""
