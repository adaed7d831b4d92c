/** A `game` as a frontend reads it: the first element of each name counts. */
export type ReadGame = Record<string, string>

const TOKEN = /<\?[^]*?\?>|<!--[^]*?-->|<!\[CDATA\[([^]*?)\]\]>|<(\/?)([^\s/>]+)[^>]*?(\/?)>|([^<]+)/g
const REFERENCES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** Reads the entries of `gameList` without the exporter's own parser. */
export function readGames (xml: string): ReadGame[] {
  const games: ReadGame[] = []
  const open: { name: string, text: string }[] = []
  for (const [, cdata, slash, name, selfClosing, text] of xml.matchAll(TOKEN)) {
    const parent = open.at(-1)
    if (parent !== undefined) parent.text += cdata ?? (text === undefined ? '' : resolveReferences(text))
    if (name === undefined) continue
    if (slash === '') {
      open.push({ name, text: '' })
      if (open.map((element) => element.name).join('/') === 'gameList/game') games.push({})
    }
    if (slash === '/' || selfClosing === '/') closeElement(open, name, games)
  }
  if (open.length > 0) throw new Error(`"${open.map(({ name }) => name).join('/')}" is not closed`)
  return games
}

function closeElement (open: { name: string, text: string }[], name: string, games: ReadGame[]) {
  const closed = open.pop()
  if (closed?.name !== name) throw new Error(`</${name}> closes "${closed?.name ?? 'nothing'}"`)
  const game = games.at(-1)
  if (game !== undefined && open.map((element) => element.name).join('/') === 'gameList/game') {
    game[name] ??= closed.text
  }
}

function resolveReferences (text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(/&(#?\w+);/g, (_, name: string) => {
    if (name.startsWith('#')) return String.fromCodePoint(Number(name.slice(1).replace('x', '0x')))
    const character = REFERENCES[name]
    if (character === undefined) throw new Error(`"${name}" is no entity`)
    return character
  })
}
