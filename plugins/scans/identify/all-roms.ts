import type { FastifyInstance } from 'fastify'
import PQueue from 'p-queue'
import type { Config } from '../../../core/config/config.ts'
import { parseName } from '../../library/names.ts'
import { createIdCheck } from '../../plugins/providers.ts'
import type { Announcer } from '../run/announcer.ts'
import type { Artwork } from '../artwork/artwork.ts'
import { findOfferers, listBadges } from '../artwork/origins.ts'
import { createBatcher } from '../run/batcher.ts'
import type { RomLookup } from './one-rom.ts'
import { type Founds, createFindings, idOf, isIdentified, withoutLinked } from './findings.ts'
import { type LookupSubject, planLookups } from './plan.ts'
import type { MatchStore, MatchWrite } from '../store/match-rows.ts'
import { type Priorities, mergeMatches } from './merge.ts'
import { isOwnCover } from './own-cover.ts'
import { listHeld, listRewritten } from './own-values.ts'
import { toMergeBase } from './merge-base.ts'
import type { Progress } from '../run/progress.ts'
import type { ScanType } from '../scan-types.ts'
import { type ScannedPlatform, toSdkRom } from './sdk-rom.ts'
import type { Titles } from './titles.ts'
import { type LookupRom, type StoredRom, loadStoredRoms } from './stored-rows.ts'
import { writeInHalves } from '../run/database-errors.ts'

/** A ROM that is due for a lookup. */
export interface DueRom {
  id: number
  fs_name: string
  /** Added by this scan. */
  isNew: boolean
  /** Looked up by this scan already, before its worker went down: only what follows is left. */
  isSettled: boolean
}

export interface IdentificationServices {
  app: FastifyInstance
  config: Config
  type: ScanType
  store: MatchStore
  artwork: Artwork
  romLookup: RomLookup
  titles: Titles
  priorities: Priorities
  progress: Progress
  announcer: Announcer
  signal: AbortSignal
}

/** A ROM after its lookups; `write` is null when nothing about it changed. */
interface Outcome {
  rom: LookupRom
  isNew: boolean
  platform: ScannedPlatform
  isIdentified: boolean
  /** What all providers say, for whoever fetches what they offer. */
  matches: Founds
  write: MatchWrite | null
}
interface DueSubject extends StoredRom { due: DueRom, platform: ScannedPlatform, titles: readonly string[] }

/** Lookups of this many ROMs are written together, or after this many milliseconds. */
const WRITE_MAX = 200
const WRITE_DELAY_MS = 100
const UNWRITTEN_MAX = 1_000
/** The ROMs whose rows and files are read together before they are looked up. */
const LOAD_MAX = 200

/**
 * The outermost part: looks all ROMs of a scan up, merges what comes back, writes it and has the artwork fetched.
 * Many ROMs are under way at once; `one-rom.ts` asks all providers about one, `one-provider.ts` is the queue of one
 * provider.
 */
export function createIdentification (services: IdentificationServices) {
  const { app, config, type, store, artwork, romLookup, titles, priorities, progress, announcer, signal } = services
  const { providers } = app.registry
  const isIdOf = createIdCheck(app.registry)
  // Each provider limits itself, in its own queue. This only limits how many ROMs wait in memory for the slowest one,
  // and must be far more than all of them take at once: else a paused one would stop the others.
  const pipeline = new PQueue({ concurrency: config.scan.workers })
  const writer = createBatcher(writeOutcomes, { max: WRITE_MAX, delayMs: WRITE_DELAY_MS })
  const fetches = new Set<Promise<void>>()
  let unwritten = 0

  async function lookUp (subject: DueSubject): Promise<Outcome> {
    const { due: { isNew, isSettled }, rom, stored, platform } = subject
    const isFresh = isNew || type === 'complete'
    const held = listHeld(rom.own_fields)
    const rewritten = listRewritten(rom.own_fields)
    const asked: LookupSubject = {
      held,
      rewritten,
      isNew,
      isSettled,
      platform_slug: platform.slug,
      provider_tags: parseName(rom.fs_name, { isFolder: rom.is_folder }).provider_tags,
      stored: new Map([...withoutLinked(stored)].map(([key, found]) => [key, idOf(found)]))
    }
    const findings = createFindings(type, stored, isIdOf, held.union(rewritten))
    const lookups = planLookups(type, romLookup.keys, providers, asked)
    await romLookup.lookUp(toSdkRom(subject, subject.titles, platform, config), lookups, findings)
    progress.add({ failed_lookups: findings.failures })
    const { all, found, dropped } = findings.conclude(romLookup.keys)
    const outcome = { rom, isNew, platform, isIdentified: isIdentified(all, providers), matches: all }
    if (found.size === 0 && dropped.length === 0 && !isFresh) return { ...outcome, write: null }
    const merged = { ...mergeMatches(all, toMergeBase(rom, isFresh), priorities), is_identified: outcome.isIdentified }
    return { ...outcome, write: { rom_id: rom.id, edits: rom.edits, matches: found, dropped, merged } }
  }

  function refuse ({ rom, platform }: Pick<Outcome, 'rom' | 'platform'>, err: unknown): void {
    const message = err instanceof Error ? err.message : String(err)
    const path = `${rom.fs_path}/${rom.fs_name}`
    progress.problem({ platform: platform.fs_slug, path, reason: `its metadata was not stored: ${message}` })
  }

  async function writeOutcomes (outcomes: readonly Outcome[]): Promise<void> {
    const refused = new Set<Outcome>()
    const changed = outcomes.filter((outcome) => outcome.write !== null)
    await writeInHalves(changed, async (some) => {
      await store.writeMatches(some.flatMap(({ write }) => write ?? []))
      return []
    }, (outcome, err) => {
      refused.add(outcome)
      refuse(outcome, err)
    })
    const stored = outcomes.filter((outcome) => !refused.has(outcome))
    progress.add({ identified_roms: stored.filter((outcome) => outcome.isIdentified).length })
    for (const outcome of stored) fetchArtwork(outcome)
    for (const isNew of [true, false]) {
      const ids = stored.filter((outcome) => outcome.isNew === isNew).map(({ rom }) => rom.id)
      await announcer.roms(ids, { is_new: isNew, is_identifying: false })
    }
  }

  function fetchArtwork ({ rom, platform, matches, write }: Outcome): void {
    if (type === 'hashes' || write === null) return
    const { merged } = write
    const isSameCover = rom.url_cover === merged.url_cover
    const isSameList = rom.url_screenshots.join('\n') === merged.url_screenshots.join('\n')
    const fetch = artwork.fetch({
      id: rom.id,
      platform_id: platform.id,
      url_cover: merged.url_cover,
      path_cover_large: isSameCover ? rom.path_cover_large : null,
      path_cover_small: isSameCover ? rom.path_cover_small : null,
      url_screenshots: merged.url_screenshots,
      path_screenshots: isSameList ? rom.path_screenshots : [],
      url_manual: merged.url_manual,
      path_manual: rom.url_manual === merged.url_manual ? rom.path_manual : null,
      media: merged.media,
      url_badges: listBadges(matches),
      badges: rom.badges,
      edits: rom.edits,
      providers: findOfferers(matches, providers)
    }).then(async (isFetched) => {
      if (isFetched) await announcer.roms([rom.id], { is_new: false, is_identifying: false })
    }).catch((err: unknown) => {
      if (!signal.aborted) app.log.warn({ err, rom: rom.id }, 'artwork was not stored')
    }).finally(() => { fetches.delete(fetch) })
    fetches.add(fetch)
  }

  async function load (due: readonly DueRom[], platform: ScannedPlatform): Promise<DueSubject[]> {
    const stored = await loadStoredRoms(app.pg, due.map((rom) => rom.id))
    const titlesOf = await titles([...stored.values()].map(({ rom }) => rom), platform.slug)
    return due.flatMap((one) => {
      const known = stored.get(one.id)
      return known === undefined ? [] : [{ ...known, due: one, platform, titles: titlesOf(known.rom) }]
    })
  }

  /** The next lookup does not wait for a batch to be full, but for the database when that cannot keep up. */
  async function settle (outcome: Outcome): Promise<void> {
    unwritten++
    const written = writer.add(outcome)
      .catch((err: unknown) => { if (!signal.aborted) refuse(outcome, err) })
      .finally(() => { unwritten-- })
    if (unwritten > UNWRITTEN_MAX) await written
  }

  function queue (subject: DueSubject): void {
    pipeline.add(async () => { await settle(await lookUp(subject)) }, { signal }).catch((err: unknown) => {
      if (!signal.aborted) refuse(subject, err)
    })
  }

  /** Without a provider there is still something to forget, or a picture to take. */
  const isWorthwhile = ({ fs_name: name }: DueRom) =>
    romLookup.keys.length > 0 || type === 'complete' || isOwnCover(name)

  return {
    /** Queues lookups; waits while too many are under way, so that the disk never runs far ahead of the providers. */
    async add (due: readonly DueRom[], platform: ScannedPlatform): Promise<void> {
      const wanted = due.filter(isWorthwhile)
      for (let start = 0; start < wanted.length; start += LOAD_MAX) {
        await pipeline.onSizeLessThan(LOAD_MAX)
        signal.throwIfAborted()
        for (const subject of await load(wanted.slice(start, start + LOAD_MAX), platform)) queue(subject)
      }
    },

    /** Waits until everything queued is looked up, written and fetched; after a stop, until what was found is kept. */
    async finish (): Promise<void> {
      await pipeline.onIdle()
      await writer.flush()
      await Promise.all([...fetches])
    }
  }
}
