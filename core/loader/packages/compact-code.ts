/** Empties the lines of comments that begin a line. No text of the sources has such a line (test/shape.test.ts). */
function emptyComments (lines: readonly string[]): string[] {
  let isComment = false
  return lines.map((line) => {
    isComment ||= /^\s*\/\*/.test(line)
    if (!isComment) return /^\s*\/\//.test(line) ? '' : line
    const end = line.indexOf('*/')
    isComment = end === -1
    return isComment ? '' : line.slice(end + 2)
  })
}

/** Removes the blanks with which Node replaced types in a line. */
function removeBlanks (source: string, line: string): string {
  const isBlank = (at: number) => line[at] === ' '
  const wasType = (at: number) => isBlank(at) && source[at] !== ' '
  let text = ''
  let from = 0
  for (let at = 0; at < line.length; at++) {
    if (!wasType(at)) continue
    const start = at
    const goes = isBlank(start - 1) ? isBlank : wasType
    while (goes(at + 1)) at++
    text += line.slice(from, start)
    from = at + 1
    // Two words stay apart.
    if (/\w$/.test(text) && /^\w/.test(line.slice(from))) text += ' '
  }
  text += line.slice(from)
  // Blanks at the end of a line of the source belong to a text.
  return /\s$/.test(source) ? text : text.trimEnd()
}

/**
 * Shortens code whose types Node replaced by blanks, because each process keeps the text of its code in memory. Each
 * line keeps its number, so stack traces name the lines of the source.
 */
export function compactCode (source: string, stripped: string): string {
  if (source.length !== stripped.length) return stripped
  const lines = source.split('\n')
  return emptyComments(stripped.split('\n').map((line, index) => {
    const former = lines[index] ?? ''
    return line === former ? line : removeBlanks(former, line)
  })).join('\n')
}
