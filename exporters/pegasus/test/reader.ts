/** A game as Pegasus shows it: all values of each key, and the description as text. */
export interface ReadGame {
  readonly collections: readonly string[]
  readonly values: Readonly<Record<string, string[]>>
  readonly description: string
}

/** Reads the games of a metadata file without the exporter's own parser. */
export function readGames (text: string): ReadGame[] {
  const games: { collections: string[], values: Record<string, string[]> }[] = []
  const collections: string[] = []
  for (const [key, values] of readEntries(text)) {
    if (key === 'collection') collections.push(values[0] ?? '')
    if (key === 'game') games.push({ collections: [...collections], values: {} })
    const game = games.at(-1)
    if (game !== undefined) (game.values[key] ??= []).push(...values)
  }
  return games.map((game) => ({ ...game, description: readText(game.values.description ?? []) }))
}

/** Reads entries. Comments are removed first, so an entry is a line with the indented lines after it. */
function readEntries (text: string): [key: string, values: string[]][] {
  const plain = text.split(/\r?\n/).filter((line) => !line.startsWith('#')).join('\n')
  return [...plain.matchAll(/(?<![^\n])([^\s:][^:\n]*):([^\n]*)((?:\n[^\S\n]+\S[^\n]*)*)/g)].map(([, key = '', first = '', more = '']) => {
    const continued = more.split('\n').map((value) => value.trim()).filter((value) => value !== '')
    const values = continued.map((value) => value === '.' ? '' : value)
    return [key.trim().toLowerCase(), first.trim() === '' ? values : [first.trim(), ...values]]
  })
}

function readText (lines: readonly string[]): string {
  const text = lines.map((line) => line === '' ? '\n\n' : line).join(' ').replace(/ ?\n\n ?/g, '\n\n')
  return text.replace(/(?<!\\)\\n/g, '\n').replace(/\\(\\+n)/g, '$1')
}
