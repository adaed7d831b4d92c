import {
  type Hashes, type RequestOptions, type Rom, type RomFile, type SearchQuery, contentHashes, listHashKinds
} from '@svc/plugin-sdk'
import { type Fields, readFields, readId } from '@svc/plugin-sdk/readers'
import { type BestTitleOptions, findBestCandidate, lastPart, rankCandidates, toQuery } from '@svc/plugin-sdk/titles'
import { type Game, findGame, searchGames } from './api.ts'
import type { SsContext } from './config.ts'
import { hasOwnName, isNoGame, listNames } from './map.ts'

export interface GameMatch { game: Game, score?: number }

const THRESHOLD = 0.75
const DISC_EXTENSION = /\.(?:iso|cue|chd|gdi|cdi|bin)$/i
/** Files of a disc that the service knows, on platforms whose folders hold further files. */
const KNOWN_EXTENSIONS: ReadonlyMap<string, RegExp> = new Map([
  ['dc', /\.(?:cue|chd|gdi|cdi)$/i], ['segacd', /\.(?:cue|chd|bin)$/i], ['ngc', /\.(?:rvz|iso|gcz)$/i]
])
const DIGITS: Readonly<Record<string, number>> = { crc: 8, md5: 32, sha1: 40 }

/**
 * Finds the game of a ROM by its file, else by its name. A file that is known to be no game is not searched by name.
 */
export async function findGameOfRom (rom: Rom, ctx: SsContext): Promise<GameMatch | undefined> {
  const file = findFile(rom)
  const query = file && describeFile(file, rom)
  if (file !== undefined) ctx.explain({ by: 'hash', hashes: listHashKinds(contentHashes(file)) })
  const game = query && await findGame(query, ctx)
  if (game !== undefined) return isNoGame(game.fields) ? undefined : { game }
  for (const title of rom.titles) {
    const found = await findByName(toTerm(title), rom, ctx)
    if (found !== undefined) return found
  }
  return undefined
}

/** Lists the games that a person's search words find, the most similar first. */
export async function listChoices ({ term, platform }: SearchQuery, ctx: SsContext): Promise<Required<GameMatch>[]> {
  const found = await Promise.all(platform.ids.map((id) => searchGames(toTerm(term), id, ctx)))
  const games = [...new Map(found.flat().map((game) => [game.id, game])).values()]
    .filter(({ fields }) => !isNoGame(fields) && hasOwnName(fields))
  return rankCandidates(term, games, ({ fields }) => listNames(fields))
    .map(({ candidate: game, score }) => ({ game, score }))
}

/** Returns the file that represents a ROM; undefined if it has none, or the service does not know the platform. */
function findFile ({ files, platform: { slug, ids } }: Rom): RomFile | undefined {
  if (ids.length === 0) return undefined
  const [file] = files
    .filter((one) => one.is_top_level && one.file_size_bytes > 0)
    .filter((one) => KNOWN_EXTENSIONS.get(slug)?.test(one.file_name) ?? true)
    .toSorted((a, b) => b.file_size_bytes - a.file_size_bytes)
  return file
}

/** Builds the lookup of the file that represents a ROM. */
function describeFile (file: RomFile, { serial, platform: { ids: [systemId] } }: Rom): RequestOptions['query'] {
  const { name, size } = contentOf(file)
  const isDisc = DISC_EXTENSION.test(name)
  return {
    ...readHashes(contentHashes(file)),
    systemeid: systemId,
    romtype: isDisc ? 'iso' : 'rom',
    romnom: name,
    romtaille: size,
    serialnum: isDisc ? serial : undefined
  }
}

/** Returns the name and size that belong to the hashes: those of the archive's only member, if it has just one. */
function contentOf ({ file_name: name, file_size_bytes: size, archive_members: members = [] }: RomFile) {
  const [only, ...others] = members.filter((member) => member.size > 0)
  if (only === undefined || others.length > 0) return { name, size }
  return { name: only.name.replace(/^.*[/\\]/s, ''), size: only.size }
}

/** Selects hashes of the right length, because one wrong length makes the service refuse the whole request. */
function readHashes ({ crc_hash: crc = '', md5_hash: md5 = '', sha1_hash: sha1 = '' }: Hashes): Record<string, string> {
  return Object.fromEntries(Object.entries({ crc, md5, sha1 }).filter(([name, hash]) => hash.length === DIGITS[name]))
}

/** Converts a title to the form in which the service searches best: separators as ` - `. */
function toTerm (title: string): string {
  return toQuery(title, { keepPunctuation: true }).replace(/\s*[:-]\s+/g, ' - ').trim()
}

async function findByName (term: string, rom: Rom, ctx: SsContext): Promise<GameMatch | undefined> {
  if (term === '') return undefined
  for (const systemId of rom.platform.ids) {
    const found = chooseGame(term, await searchGames(term, systemId, ctx), rom, { explain: ctx.explain })
    if (found !== undefined) return found
  }
  const last = lastPart(term)
  const [systemId] = rom.platform.ids
  if (last === term || systemId === undefined) return undefined
  return chooseGame(last, await searchGames(last, systemId, ctx), rom, { split: true, explain: ctx.explain })
}

/** Chooses the most similar game. On a tie, games of the platform win over those of its sub-systems, such as hacks. */
function chooseGame (
  term: string, games: readonly Game[], { platform }: Rom, options: Pick<BestTitleOptions, 'split' | 'explain'>
): GameMatch | undefined {
  const real = games.filter(({ fields }) => !isNoGame(fields))
  const own = real.filter(({ fields }) => platform.ids.includes(systemOf(fields) ?? ''))
  const [best] = [own, real].flatMap((candidates) =>
    findBestCandidate(term, candidates, ({ fields }) => listNames(fields), { ...options, threshold: THRESHOLD }) ?? [])
    .toSorted((a, b) => b.score - a.score)
  return best && { game: best.candidate, score: best.score }
}

const systemOf = (game: Fields): number | undefined => readId(readFields(game, 'systeme') ?? {}, 'id')
