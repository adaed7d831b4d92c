import type { ExportGame } from '@svc/plugin-sdk'

// Comma-separated values with every field quoted, as in RFC 4180, but one record is always one line. A line feed
// within a field is written \n, a carriage return \r and a backslash \\, so programs can read files line by line.

export const HEADER = '"path","name","released","rating","cover"'
const FIELD = /^"((?:[^"]|"")*)"(?:,|$)/
const ESCAPES = new Map([['\\', '\\\\'], ['\n', '\\n'], ['\r', '\\r']])

export function renderLine ({ path, name, first_release_date: released, average_rating: rating, media }: ExportGame) {
  const date = released === null ? '' : new Date(released).toISOString().slice(0, 10)
  const fields = [path, name, date, rating === null ? '' : String(rating), media.cover ?? '']
  return fields.map(quote).join(',')
}

/** Returns the path at the beginning of a line, or null when the line has another format. */
export function readPath (line: string): string | null {
  return readFields(line)?.[0] ?? null
}

/** Returns the fields of a line, or null when it is not a line of quoted fields. */
export function readFields (line: string): string[] | null {
  const fields: string[] = []
  let rest = line
  while (rest !== '') {
    const match = FIELD.exec(rest)
    if (match === null) return null
    fields.push(unquote(match[1] ?? ''))
    rest = rest.slice(match[0].length)
  }
  return fields
}

function quote (text: string): string {
  const escaped = text.replace(/[\\\n\r]/g, (character) => ESCAPES.get(character) ?? character)
  return `"${escaped.replaceAll('"', '""')}"`
}

function unquote (text: string): string {
  return text.replaceAll('""', '"').replace(/\\([\\nr])/g, (_, letter: string) => {
    if (letter === 'n') return '\n'
    return letter === 'r' ? '\r' : '\\'
  })
}
