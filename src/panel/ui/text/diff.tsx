import { diffLines } from "diff";

interface Props {
  /** The name of the comparison, such as `0.1.0 → 0.2.0`. */
  label: string;
  before: string;
  after: string;
}

interface Line {
  sign: "+" | "−" | " ";
  text: string;
}

/** The number of unchanged lines shown around a change. */
const around = 3;

/** The differences between two texts, line by line, without long parts that are unchanged. */
export function Diff({ label, before, after }: Props) {
  const lines = linesOf(before, after);
  if (lines.every(({ sign }) => sign === " ")) return <p class="soft">The two are the same.</p>;
  const shown = lines.map((line, index) => near(lines, index) || line.sign !== " ");
  return (
    <div class="code">
      <div class="code-head">
        <span>{label}</span>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reached by keyboard. */}
      <section class="scroll diff" tabIndex={0} aria-label={label}>
        {lines.map((line, index) => {
          if (!shown[index]) return shown[index - 1] !== false && <div class="gap">…</div>;
          return (
            <div key={index} class={line.sign === "+" ? "added" : line.sign === "−" ? "removed" : undefined}>
              <span class="sign">{line.sign}</span>
              {line.text || " "}
            </div>
          );
        })}
      </section>
    </div>
  );
}

const near = (lines: readonly Line[], index: number) =>
  lines.slice(Math.max(0, index - around), index + around + 1).some(({ sign }) => sign !== " ");

function linesOf(before: string, after: string): Line[] {
  return diffLines(ended(before), ended(after)).flatMap(({ added, removed, value }) => {
    const sign = added ? "+" : removed ? "−" : " ";
    return value
      .replace(/\n$/, "")
      .split("\n")
      .map((text): Line => ({ sign, text }));
  });
}

/** Adds a line end to the last line, so that it equals the same line in the middle of a text. */
const ended = (text: string) => (text === "" || text.endsWith("\n") ? text : `${text}\n`);
