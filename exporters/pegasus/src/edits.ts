/** Changes to a text by line. They are collected and applied together, so line numbers stay valid meanwhile. */
export interface LineEdits {
  /** The original text by line, without line ends. */
  readonly lines: readonly string[]
  replace (line: number, lines: readonly string[]): void
  remove (line: number): void
  /** Inserts after a line; index -1 means the beginning. Later insertions at one line come after earlier ones. */
  insertAfter (line: number, lines: readonly string[]): void
  /** Returns the changed text; the identical text when there were no changes. */
  apply (): string
}

export function createLineEdits (text: string): LineEdits {
  const mark = text.startsWith('\uFEFF') ? '\uFEFF' : ''
  const raw = text.slice(mark.length).split('\n')
  const carriageReturn = raw[0]?.endsWith('\r') === true ? '\r' : ''
  const replaced = new Map<number, readonly string[]>()
  const inserted = new Map<number, string[]>()

  function apply (): string {
    if (replaced.size === 0 && inserted.size === 0) return text
    const added = (lines: readonly string[] = []) => lines.map((line) => line + carriageReturn)
    const lines = raw.flatMap((line, index) =>
      [...(replaced.has(index) ? added(replaced.get(index)) : [line]), ...added(inserted.get(index))])
    const result = mark + [...added(inserted.get(-1)), ...lines].join('\n')
    return result.endsWith('\n') ? result : result.replace(/\r$/, '') + carriageReturn + '\n'
  }
  return {
    lines: raw.map((line) => line.replace(/\r$/, '')),
    replace: (line, lines) => { replaced.set(line, lines) },
    remove: (line) => { replaced.set(line, []) },
    insertAfter: (line, lines) => {
      if (lines.length > 0) inserted.set(line, [...inserted.get(line) ?? [], ...lines])
    },
    apply
  }
}
