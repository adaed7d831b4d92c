import { createHash } from 'node:crypto'
import { realpath, stat } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { isNothingThere, openInside } from '../../../core/files/safe-path.ts'
import {
  FileAbsentError, type FileRef, type Importer, type ImporterContext, type ImporterSettings, type ImportRecord,
  type RecordKind, SourceError
} from '../contract.ts'
import type { Folders } from './folders.ts'
import { createMediaFinder } from './media.ts'
import { type Game, listSystems, readGames } from './systems.ts'

/** Kinds that people look for and that gamelists do not have. */
const ABSENT: Partial<Record<RecordKind, string>> = {
  asset: 'gamelists name no saves; sync the devices, or upload the files',
  play_session: 'gamelists count plays and do not record when they were'
}
const MAX_ID = 255
const MAX_RATING = 10

/** @throws SourceError if a folder cannot be read or has no gamelist. */
export async function openGamelists (settings: ImporterSettings, context: ImporterContext): Promise<Importer> {
  const folders: Folders = {
    folder: await resolveFolder(settings.folder, '--folder'),
    gamelists: settings.gamelists === undefined ? null : await resolveFolder(settings.gamelists, '--gamelists'),
    media: settings.media === undefined ? null : await resolveFolder(settings.media, '--media')
  }
  const systems = await listSystems(folders)
  if (systems.length === 0) {
    throw new SourceError(`No folder in ${JSON.stringify(folders.folder)} has a gamelist.xml. Name the folder that holds a folder for ` +
      'each system; for ES-DE also its folder of gamelists')
  }
  const lists = createLists(folders, systems, context)
  return {
    identity: `gamelist:${folders.folder}`,
    title: `gamelist.xml of ${systems.length} ${systems.length === 1 ? 'system' : 'systems'}`,
    absent: ABSENT,
    list<Kind extends RecordKind> (kind: Kind) {
      return lists[kind]?.() ?? listNothing()
    },
    open: (file) => openFile(folders, file),
    async close () {}
  }
}

async function resolveFolder (path: string | undefined, option: string): Promise<string> {
  try {
    const real = await realpath(path ?? '')
    if ((await stat(real)).isDirectory()) return real
    throw new SourceError('it is no folder')
  } catch (err) {
    throw new SourceError(`The folder ${JSON.stringify(path ?? '')} of ${option} cannot be read: ${(err as Error).message}. ` +
      'Check the path and the rights of the server\'s user', { cause: err })
  }
}

async function openFile ({ folder, media }: Folders, { path }: FileRef): Promise<Readable> {
  const [, name = '', rest = ''] = /^(roms|media)\/(.*)$/s.exec(path) ?? []
  const base = name === 'media' ? media : folder
  try {
    if (base === null || rest === '') throw new FileAbsentError(`${JSON.stringify(path)} is no file of a gamelist`)
    return (await openInside(base, rest)).createReadStream()
  } catch (err) {
    if (!isNothingThere(err)) throw err
    throw new FileAbsentError(`${JSON.stringify(path)} is absent`, { cause: err })
  }
}

type Lists = { readonly [Kind in RecordKind]?: () => AsyncIterable<ImportRecord<Kind>> }

async function * listNothing (): AsyncGenerator<never> {}

function createLists (folders: Folders, systems: readonly string[], context: ImporterContext): Lists {
  const silent: ImporterContext = { ...context, skip () {}, warn () {} }

  /** Reads the games of all systems. Only the list of ROMs reports games that are skipped. */
  async function * readAll (reporter = silent): AsyncGenerator<Game> {
    for (const system of systems) yield * await readGames(folders, system, reporter)
  }

  async function * listPlatforms (): AsyncGenerator<ImportRecord<'platform'>> {
    for (const system of systems) {
      yield {
        id: system,
        fs_slug: system,
        slug: null,
        name: null,
        custom_name: null,
        description: null,
        created_at: null,
        updated_at: null
      }
    }
  }

  async function * listRoms (): AsyncGenerator<ImportRecord<'rom'>> {
    const findMedia = createMediaFinder(folders)
    for await (const game of readAll(context)) yield toRom(game, await findMedia(game))
  }

  async function * listMarks (): AsyncGenerator<ImportRecord<'mark'>> {
    for await (const game of readAll()) {
      const mark = toMark(game)
      if (mark !== null) yield mark
    }
  }

  /** Lists no record: the plays of a game are a sum here, without the time of each. */
  async function * listPlays (): AsyncGenerator<ImportRecord<'play_session'>> {
    for await (const game of readAll()) {
      const plays = describePlays(game)
      if (plays === null) continue
      context.skip({
        kind: 'play_session',
        id: shorten(game.id),
        name: `${game.system}: ${game.fsName}`,
        reason: `${plays}; a play session needs the time of each play, which gamelists do not record`
      })
    }
  }

  async function * listFavorites (): AsyncGenerator<ImportRecord<'collection'>> {
    const ids: string[] = []
    for await (const game of readAll()) if (isSet(game, 'favorite')) ids.push(shorten(game.id))
    if (ids.length === 0) return
    yield {
      id: 'favorites',
      user_id: null,
      name: 'Favourites',
      description: null,
      is_public: false,
      is_favorite: true,
      cover: null,
      rom_ids: ids,
      created_at: null,
      updated_at: null
    }
  }

  return {
    platform: listPlatforms, rom: listRoms, mark: listMarks, play_session: listPlays, collection: listFavorites
  }
}

/** Returns an id of at most as many characters as the contract allows. */
function shorten (id: string): string {
  return id.length <= MAX_ID ? id : createHash('sha256').update(id).digest('hex')
}

type FoundMedia = Awaited<ReturnType<ReturnType<typeof createMediaFinder>>>

function toRom ({ id, system, fsName, entry }: Game, media: FoundMedia): ImportRecord<'rom'> {
  const { text, screenScraperId } = entry
  const { cover = null, manual = null, screenshot, ...others } = Object.fromEntries(media)
  const raId = text.get('cheevosId') ?? ''
  return {
    id: shorten(id),
    platform_id: system,
    fs_name: fsName,
    fs_size_bytes: null,
    crc: readHash(text.get('crc32') ?? text.get('hash'), 8),
    md5: readHash(text.get('md5'), 32),
    sha1: null,
    files: [],
    name: text.get('name') ?? null,
    name_sort_key: null,
    summary: text.get('desc') ?? null,
    provider_ids: {
      ...screenScraperId === null ? {} : { ss: screenScraperId },
      ...(/^[1-9]\d{0,15}$/.test(raId) ? { ra: raId } : {})
    },
    manual_metadata: null,
    locked: [],
    cover,
    manual,
    screenshots: screenshot === undefined ? [] : [screenshot],
    media: others,
    created_at: null,
    updated_at: null
  }
}

/** Returns what a person did with a game; null for nothing. */
function toMark (game: Game): ImportRecord<'mark'> | null {
  const { text } = game.entry
  const rating = readRating(text.get('rating'))
  const lastPlayed = readTime(text.get('lastplayed'))
  const [isHidden, isCompleted] = [isSet(game, 'hidden'), isSet(game, 'completed')]
  if (rating === 0 && lastPlayed === null && !isHidden && !isCompleted) return null
  return {
    rom_id: shorten(game.id),
    user_id: null,
    last_played: lastPlayed,
    is_main_sibling: false,
    backlogged: false,
    now_playing: false,
    hidden: isHidden,
    rating,
    difficulty: 0,
    completion: 0,
    status: isCompleted ? 'finished' : null,
    created_at: null,
    updated_at: null
  }
}

/** Returns how often and how long a game was played; null if it never was. */
function describePlays ({ entry: { text } }: Game): string | null {
  const count = readCount(text.get('playcount'))
  const seconds = readCount(text.get('gametime'))
  if (count === null && seconds === null) return null
  const minutes = Math.round((seconds ?? 0) / 60)
  return [
    ...(count === null ? [] : [count === 1 ? '1 play' : `${count} plays`]),
    ...(seconds === null ? [] : [`${Math.floor(minutes / 60)} h ${minutes % 60} min in all`])
  ].join(', ')
}

function isSet ({ entry }: Game, element: string): boolean {
  return ['true', 'yes', '1'].includes(entry.text.get(element)?.toLowerCase() ?? '')
}

/** Frontends write a rating from 0 to 1, and 0 for none. */
function readRating (text = ''): number {
  const rating = /^(?:\d+(?:\.\d*)?|\.\d+)$/.test(text) ? Number(text) : 0
  return rating > 0 && rating <= 1 ? Math.round(rating * MAX_RATING) : 0
}

function readCount (text = ''): number | null {
  return /^[1-9]\d{0,14}$/.test(text) ? Number(text) : null
}

/** Reads `YYYYMMDDTHHMMSS`. Frontends write no zone, so it counts as UTC. */
function readTime (text = ''): string | null {
  const time = text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)$/, '$1-$2-$3T$4:$5:$6Z')
  const date = new Date(time)
  const isPossible = time !== text && !Number.isNaN(date.getTime()) && date.toISOString().startsWith(time.slice(0, -1))
  return isPossible && !time.startsWith('1970-01-01') ? time : null
}

function readHash (text = '', digits: number): string | null {
  return text.length === digits && /^[0-9a-f]+$/i.test(text) ? text.toLowerCase() : null
}
