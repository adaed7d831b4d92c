// The rules of the format: https://pegasus-frontend.org/docs/user-guide/meta-files/

/** Cleans a title or list value: one line without spaces at its ends; may become empty. */
export function cleanLine (text: string): string {
  return text.toWellFormed().replace(/\0/g, '').replace(/[\r\n]+/g, ' ').trim()
}

/**
 * Encodes a description on one line. A line feed becomes `\n`. A backslash before an `n` of the text gets another
 * backslash. One at the end of a line gets a space, because both would otherwise read as a line feed.
 */
export function encodeText (text: string): string {
  return text.toWellFormed().replace(/\0/g, '').replace(/\r\n?/g, '\n').trim().split('\n')
    .map((line) => line.replace(/\\+n/g, '\\$&').replace(/\\$/, '\\ ')).join('\\n').trim()
}

/**
 * Decodes a description as Pegasus does: joins lines with a space, `.` lines are paragraph breaks, `\n` is resolved.
 */
export function decodeText (lines: readonly string[]): string {
  let text = ''
  for (const line of lines) {
    if (line === '') text += '\n\n'
    else text += text === '' || text.endsWith('\n') ? line : ` ${line}`
  }
  return text.replace(/(\\*)\\n/g, (_, before: string) => before === '' ? '\n' : `${before}n`)
}
