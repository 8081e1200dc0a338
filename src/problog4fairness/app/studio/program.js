// ProbLog in the editor: a small grammar for its colours, and errors under the lines where they are.
import * as CM from "nicegui-codemirror";

// Names of their own: the editor has other ideas of what a "variable" is.
const PARTS = ["comment", "number", "string", "variable", "predicate", "atom", "operator", "network"].map((part) => `pl-${part}`);
const Tag = CM.defaultHighlightStyle.specs.flatMap((spec) => spec.tag)[0].constructor;
const tags = Object.fromEntries(PARTS.map((part) => [part, Tag.define()]));
const NETWORKS = /^(nn|evidence|query)$/;

const language = CM.StreamLanguage.define({
  name: "problog",
  startState: () => ({ inComment: false }),
  token(stream, state) {
    if (state.inComment || stream.match("/*")) {
      state.inComment = !stream.match(/^.*?\*\//);
      if (state.inComment) stream.skipToEnd();
      return "pl-comment";
    }
    if (stream.eatSpace()) return null;
    if (stream.match(/^%.*/)) return "pl-comment";
    if (stream.match(/^\d+(\.\d+)?([eE][+-]?\d+)?/)) return "pl-number";
    if (stream.match(/^'([^'\\]|\\.|'')*'?/) || stream.match(/^"([^"\\]|\\.)*"?/)) return "pl-string";
    if (stream.match(/^[A-Z_]\w*/)) return "pl-variable";
    const name = stream.match(/^[a-z]\w*/);
    if (name) return NETWORKS.test(name[0]) ? "pl-network" : stream.peek() === "(" ? "pl-predicate" : "pl-atom";
    if (stream.match(/^(::|:-|\?-|\\\+|\\==|\\=|=:=|=\\=|=<|>=|[-+*/<>=;])/)) return "pl-operator";
    stream.next();
    return null;
  },
  tokenTable: tags,
  languageData: { commentTokens: { line: "%" } },
});

class Problem extends CM.WidgetType {
  constructor(message, column) {
    super();
    Object.assign(this, { message, column });
  }
  eq(other) {
    return other.message === this.message && other.column === this.column;
  }
  toDOM() {
    const place = document.createElement("div");
    place.className = "pl-problem";
    place.style.paddingLeft = `${this.column - 1}ch`;
    place.textContent = `${this.column > 0 ? "^ " : ""}${this.message}`;
    return place;
  }
}

const told = CM.StateEffect.define();
const problems = CM.StateField.define({
  create: () => CM.Decoration.none,
  update(shown, change) {
    for (const effect of change.effects) if (effect.is(told)) return effect.value;
    return shown.map(change.changes);
  },
  provide: (field) => CM.EditorView.decorations.from(field),
});

// What the page writes is a step of its own for undo, however soon it comes after another one.
const steps = CM.EditorState.transactionExtender.of((change) =>
  change.docChanged && !change.annotation(CM.Transaction.userEvent) ? { annotations: CM.isolateHistory.of("full") } : null,
);

const look = [
  CM.Prec.highest(CM.syntaxHighlighting(CM.HighlightStyle.define(PARTS.map((part) => ({ tag: tags[part], class: part }))))),
  CM.EditorView.contentAttributes.of({ "aria-label": "The program", spellcheck: "false" }),
];

/** Make an editor of the page one for programs. */
export async function dress(component) {
  const editor = await component.editorPromise;
  editor.dispatch({ effects: CM.StateEffect.appendConfig.of([language, problems, steps, look]) });
}

/** Show an error under its line; without a line, take away what was shown. */
export async function tell(component, line, column, message) {
  const editor = await component.editorPromise;
  let shown = CM.Decoration.none;
  if (line && line <= editor.state.doc.lines) {
    const { from, to } = editor.state.doc.line(line);
    shown = CM.Decoration.set([
      CM.Decoration.line({ class: "pl-wrong" }).range(from),
      CM.Decoration.widget({ widget: new Problem(message, column || 0), block: true, side: 1 }).range(to),
    ], true);
  }
  editor.dispatch({ effects: told.of(shown) });
}
