import type { Match } from '@svc/plugin-sdk'
import { readDate, readText, readTexts, unique } from '@svc/plugin-sdk/readers'
import type { Game } from './api.ts'
import type { Metadata } from './metadata.ts'

const IMAGES_URL = 'https://infinity.unstable.life/images'

export function toMatch (game: Game, score?: number): Match<Metadata, string> {
  const developers = unique([readText(game, 'developer')])
  const publishers = unique([readText(game, 'publisher')])
  const lists = {
    franchises: unique([readText(game, 'series')]),
    companies: unique([...developers, ...publishers]),
    genres: readJoined(game, 'tags'),
    game_modes: readJoined(game, 'playMode')
  }
  const released = readDate(game, 'releaseDate')
  // A bare year would become the first of January.
  const day = released?.precision === 'day' ? released.at : undefined
  return {
    id: game.id.trim(),
    score,
    ...lists,
    name: game.title.trim(),
    summary: readText(game, 'originalDescription'),
    alternative_names: readJoined(game, 'alternateTitles'),
    developers,
    publishers,
    first_release_date: day,
    media: [{ kind: 'cover', url: imageUrl('Logos', game) }, { kind: 'screenshot', url: imageUrl('Screenshots', game) }],
    metadata: {
      ...lists,
      first_release_date: day === undefined ? '' : String(day / 1000),
      source: readText(game, 'source') ?? null,
      status: readText(game, 'status') ?? null,
      version: readText(game, 'version') ?? null,
      language: readText(game, 'language') ?? null,
      notes: readText(game, 'notes') ?? null
    }
  }
}

/** Lists the title of a game, then its alternative titles. */
export function listTitles (game: Game): string[] {
  return [game.title, ...readJoined(game, 'alternateTitles')]
}

/** Reads several values from a list, or from one text with semicolons between them. */
function readJoined (game: Game, key: string): string[] {
  if (Array.isArray(game[key])) return readTexts(game, key)
  return unique((readText(game, key) ?? '').split(';').map((value) => value.trim() || undefined))
}

function imageUrl (folder: string, { id }: Game): string {
  const name = id.trim()
  return `${IMAGES_URL}/${folder}/${name.slice(0, 2)}/${name.slice(2, 4)}/${name}.png?type=jpg`
}
