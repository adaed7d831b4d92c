// The rules of the format: https://pegasus-frontend.org/docs/user-guide/meta-files/

/** A title or list value: one line without spaces at its ends. Empty when nothing is left. */
export function cleanLine (text: string): string {
  return text.toWellFormed().replace(/\0/g, '').replace(/[\r\n]+/g, ' ').trim()
}

/**
 * A description on one line. A line feed is written `\n`; a backslash before an `n` of the text gets one more, and one
 * at the end of a line a space, so that they are not taken for it.
 */
export function encodeText (text: string): string {
  return text.toWellFormed().replace(/\0/g, '').replace(/\r\n?/g, '\n').trim().split('\n')
    .map((line) => line.replace(/\\+n/g, '\\$&').replace(/\\$/, '\\ ')).join('\\n').trim()
}

/** What Pegasus shows of a description: lines joined with a space, `.` lines as paragraph breaks, `\n` resolved. */
export function decodeText (lines: readonly string[]): string {
  let text = ''
  for (const line of lines) {
    if (line === '') text += '\n\n'
    else text += text === '' || text.endsWith('\n') ? line : ` ${line}`
  }
  return text.replace(/(\\*)\\n/g, (_, before: string) => before === '' ? '\n' : `${before}n`)
}
