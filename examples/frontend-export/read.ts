import { SaxesParser } from 'saxes'

/** The data with which a frontend shows and starts a game. Paths are relative to the file that contains them. */
export interface Game {
  path: string
  name: string
  media: string[]
}

const MEDIA_ELEMENTS = new Set(['image', 'thumbnail', 'marquee', 'video', 'fanart', 'titleshot', 'boxback', 'cartridge',
  'bezel', 'mix', 'manual'])

/** @throws Error when the text is not well-formed. */
export function readGamelist (text: string): Game[] {
  const games: Game[] = []
  let game: Game | null = null
  let content = ''
  const parser = new SaxesParser()
  parser.on('error', (err) => { throw err })
  parser.on('opentag', ({ name }) => {
    if (name === 'game') game = { path: '', name: '', media: [] }
    content = ''
  })
  parser.on('text', (value) => { content += value })
  parser.on('closetag', ({ name }) => {
    if (game === null) return
    if (name === 'path' || name === 'name') game[name] = content
    else if (MEDIA_ELEMENTS.has(name)) game.media.push(content)
    else if (name === 'game') {
      games.push(game)
      game = null
    }
  })
  parser.write(text).close()
  return games
}

/** Reads the format, which has only repeated keys and continuation lines: https://pegasus-frontend.org/docs */
export function readPegasus (text: string): Game[] {
  const games: Game[] = []
  for (const line of text.split(/\r?\n/)) {
    const [, key = '', value = ''] = /^([^\s#:][^:]*):\s*(.*)$/.exec(line) ?? []
    const game = games.at(-1)
    if (key === 'game') games.push({ path: '', name: value, media: [] })
    else if (game === undefined) continue
    else if (key === 'file' && game.path === '') game.path = value
    else if (key.startsWith('assets.')) game.media.push(value)
  }
  return games
}
