import { HttpStatusError, type Match, type Rom, type SearchQuery, ServiceDownError, regionCode } from '@svc/plugin-sdk'
import { readText } from '@svc/plugin-sdk/readers'
import { type LaunchBoxContext, usesDump } from './config.ts'
import { type LocalEntry, entriesPath, findEntry, ownId } from './entries.ts'
import { findFiles } from './files.ts'
import { toMatch } from './map.ts'
import type { Metadata } from './metadata.ts'
import { platformName } from './names.ts'
import { createRegionRank } from './regions.ts'
import { type RemoteGame, type SearchTerms, findByTitles, findGame, getGame } from './remote.ts'

/** The search criteria for a game. */
export interface GameSubject extends SearchTerms {
  /** Undefined for a platform that LaunchBox does not know. */
  readonly platform: string | undefined
  /** Possible names of local pictures. */
  readonly stems: readonly string[]
  readonly regions: readonly string[]
}

type GameMatch = Match<Metadata, number> | undefined

export function ofRom (rom: Rom): GameSubject {
  const { fs_name: fileName, fs_name_no_ext: stem, titles, region_codes: regions } = rom
  return { fileName, titles, stems: [stem], regions, platform: platformName(rom.platform.slug) }
}

export function ofQuery ({ term, platform: { slug } }: SearchQuery): GameSubject {
  return { fileName: term, titles: [term], stems: [], regions: [], platform: platformName(slug) }
}

/** Finds the game in the installation and completes it from the dump; otherwise finds it in the dump. */
export async function findByName (subject: GameSubject, ctx: LaunchBoxContext): Promise<GameMatch> {
  const { platform } = subject
  if (platform === undefined) return undefined
  const entry = await findEntry(subject.fileName, platform, ctx)
  if (entry !== undefined) {
    const game = await findGameOf(entry, platform, ctx)
    ctx.explain({ by: 'sidecar', path: entriesPath(platform) })
    return await describe(subject, entry, game, ctx)
  }
  return await describe(subject, undefined, usesDump(ctx) ? await findGame(subject, platform, ctx) : undefined, ctx)
}

/** Returns the game with this id. Uses the entry of the installation only if it has the same id. */
export async function findById (
  id: number, subject: GameSubject | undefined, ctx: LaunchBoxContext
): Promise<GameMatch> {
  if (id < 0) return subject && await findByName(subject, ctx)
  const entry = subject && await findEntry(subject.fileName, subject.platform, ctx)
  const entryById = entry?.id === id ? entry : undefined
  const game = usesDump(ctx) ? await getGame(id, ctx) : undefined
  return await describe(subject, entryById, game, ctx)
}

/**
 * Returns the dump's data for an entry of the installation. The data only complete an existing match, so an
 * unavailable dump is no error.
 */
async function findGameOf (
  entry: LocalEntry, platform: string, ctx: LaunchBoxContext
): Promise<RemoteGame | undefined> {
  if (!usesDump(ctx)) return undefined
  try {
    const game = entry.id === undefined ? undefined : await getGame(entry.id, ctx)
    const title = readText(entry.fields, 'Name')
    return game ?? (title === undefined ? undefined : await findByTitles([title], platform, ctx))
  } catch (err) {
    if (!(err instanceof HttpStatusError || err instanceof ServiceDownError)) throw err
    await ctx.memo('warned of the dump', async () => {
      ctx.log.warn({ err }, 'the LaunchBox dump is not available; only the LaunchBox folder is used')
    })
    return undefined
  }
}

async function describe (
  subject: GameSubject | undefined, entry: LocalEntry | undefined, game: RemoteGame | undefined, ctx: LaunchBoxContext
): Promise<GameMatch> {
  const id = entry?.id ?? game?.id ?? (entry && ownId(entry))
  if (id === undefined) return undefined
  const { platform, stems = [], regions = [] } = subject ?? {}
  const fields = { ...game?.fields, ...entry?.fields }
  const names = [...stems, readText(fields, 'Name') ?? '']
  const gameRegions = [regionCode(entry?.region ?? ''), ...regions].filter((code) => code !== undefined)
  return toMatch({
    id,
    fields,
    images: game?.images ?? [],
    files: await findFiles(names, platform, ctx),
    rank: createRegionRank(gameRegions, ctx.preferences.regions)
  })
}
