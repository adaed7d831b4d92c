import type { Match, ProviderDefinition, Rom as SdkRom, RomFile, RomPlatform } from '@svc/plugin-sdk'
import PQueue from 'p-queue'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../../core/config.ts'
import { parseName, regionCodes } from '../../core/library/names.ts'
import { Rom, RomFile as RomFileEntity } from '../roms/entities.ts'
import { createBatcher } from './batcher.ts'
import type { Artwork } from './artwork.ts'
import type { createIdentifier } from './identify.ts'
import { type LookupSubject, planLookups } from './lookups.ts'
import { type MergeBase, type Priorities, mergeMatches } from './merge.ts'
import type { Progress } from './progress.ts'
import type { MatchWrite, RomStore } from './rom-store.ts'
import type { ScanType } from './schemas.ts'

/** A ROM that is due for a lookup. */
export interface DueRom { id: number, isNew: boolean }

/** The platform of the ROMs at hand, as the scan knows it. */
export interface ScannedPlatform { id: number, slug: string, fs_slug: string, name: string, fs_path: string }

export interface IdentificationServices {
  app: FastifyInstance
  config: Config
  type: ScanType
  store: RomStore
  artwork: Artwork
  identifier: ReturnType<typeof createIdentifier>
  priorities: Priorities
  progress: Progress
  signal: AbortSignal
  /** Tells clients about ROMs. */
  announce (ids: readonly number[], flags: { is_new: boolean, is_identifying: boolean }): Promise<void>
}

/** Lookups of this many ROMs are written together, or after this many milliseconds. */
const WRITE_MAX = 100
const WRITE_DELAY_MS = 150
/** The ROMs whose rows and files are read together before they are looked up. */
const LOAD_MAX = 200

function toSdkFile (file: RomFileEntity): RomFile {
  return {
    file_name: file.file_name,
    file_path: file.file_path,
    file_size_bytes: file.file_size_bytes,
    is_top_level: file.is_top_level,
    chd_sha1_hash: file.chd_sha1_hash ?? null,
    archive_members: file.archive_members ?? null,
    category: file.category ?? null,
    crc_hash: file.crc_hash,
    md5_hash: file.md5_hash,
    sha1_hash: file.sha1_hash
  }
}

function toSdkRom (rom: Rom, files: RomFileEntity[], platform: ScannedPlatform, config: Config): (definition: ProviderDefinition) => SdkRom {
  const parsed = parseName(rom.fs_name, { isFolder: rom.is_folder })
  const own = regionCodes(rom.regions)
  const wanted = config.scan.priority.region
  const rank = (code: string) => wanted.includes(code) ? wanted.indexOf(code) : wanted.length
  const codes = config.scan.priority.region_mode === 'prefer_config' ? [] : own.toSorted((a, b) => rank(a) - rank(b))
  return (definition) => {
    const romPlatform: RomPlatform = {
      slug: platform.slug, fs_slug: platform.fs_slug, name: platform.name, fs_path: platform.fs_path,
      provider_id: definition.platforms?.[platform.slug] ?? null
    }
    return {
      fs_name: rom.fs_name,
      fs_name_no_ext: rom.fs_name_no_ext,
      fs_name_no_tags: rom.fs_name_no_tags,
      fs_extension: rom.fs_extension,
      fs_path: rom.fs_path,
      regions: rom.regions,
      languages: rom.languages,
      revision: rom.revision ?? null,
      tags: rom.tags,
      crc_hash: rom.crc_hash,
      md5_hash: rom.md5_hash,
      sha1_hash: rom.sha1_hash,
      ra_hash: rom.ra_hash ?? null,
      serial: parsed.serial,
      files: files.map(toSdkFile),
      platform: romPlatform,
      region_codes: codes
    }
  }
}

/** Values of a ROM that was matched before are kept, except by a scan that starts from scratch. */
function toMergeBase (rom: Rom, isFresh: boolean): MergeBase {
  const parsed = parseName(rom.fs_name, { isFolder: rom.is_folder })
  const { name, summary, url_screenshots: screenshots, url_manual: manual, media } = rom
  const cover = rom.path_cover_large === null || rom.path_cover_large === undefined ? null : rom.url_cover
  return {
    fs_name_no_tags: rom.fs_name_no_tags,
    regions: parsed.regions,
    languages: parsed.languages,
    kept: isFresh ? {} : {
      name: name ?? null, summary: summary ?? null, url_cover: cover ?? null, url_screenshots: screenshots,
      url_manual: manual ?? null, media
    }
  }
}

/** Looks ROMs up, merges what comes back, writes it and has the artwork fetched. Many ROMs are under way at once. */
export function createIdentification (services: IdentificationServices) {
  const { app, config, type, store, artwork, identifier, priorities, progress, signal } = services
  const { providers } = app.registry
  const pipeline = new PQueue({ concurrency: config.scan.workers })
  const writer = createBatcher<MatchWrite>((writes) => store.writeMatches(writes), { max: WRITE_MAX, delayMs: WRITE_DELAY_MS })
  const fetches = new Set<Promise<unknown>>()

  const counts = (key: string) => providers.get(key)?.definition.identifies !== false
  const isIdentified = (matches: ReadonlyMap<string, Match>) => [...matches.keys()].some(counts)

  /** Which stored matches stay, beside those just found. */
  function combine (stored: ReadonlyMap<string, Match>, found: ReadonlyMap<string, Match>, misses: ReadonlySet<string>, isFresh: boolean) {
    const all = new Map<string, Match>()
    const dropped: string[] = []
    for (const [key, match] of stored) {
      const isUnselected = type === 'complete' && !identifier.keys.includes(key)
      const isRefuted = misses.has(key) && (isFresh || type === 'hashes')
      if (isUnselected || isRefuted) dropped.push(key)
      else all.set(key, match)
    }
    for (const [key, match] of found) all.set(key, match)
    return { all, dropped }
  }

  function fetchArtwork (rom: Rom, platformId: number, merged: MatchWrite['merged']): void {
    if (type === 'hashes') return
    const urlsChanged = rom.url_screenshots.join('\n') !== merged.url_screenshots.join('\n')
    const fetch = artwork.fetch({
      id: rom.id,
      platform_id: platformId,
      url_cover: merged.url_cover,
      path_cover_large: rom.url_cover === merged.url_cover ? rom.path_cover_large : null,
      path_cover_small: rom.url_cover === merged.url_cover ? rom.path_cover_small : null,
      url_screenshots: merged.url_screenshots,
      path_screenshots: urlsChanged ? [] : rom.path_screenshots,
      url_manual: merged.url_manual,
      path_manual: rom.url_manual === merged.url_manual ? rom.path_manual : null,
      media: merged.media
    }).then(() => services.announce([rom.id], { is_new: false, is_identifying: false }))
    fetches.add(fetch)
    // Failures were logged where they happened; a stop is seen by whoever waits for the queue.
    fetch.catch(() => {}).finally(() => { fetches.delete(fetch) })
  }

  async function identifyOne (rom: Rom, files: RomFileEntity[], stored: ReadonlyMap<string, Match>, isNew: boolean, platform: ScannedPlatform) {
    const isFresh = isNew || type === 'complete'
    const subject: LookupSubject = {
      isNew,
      platform_slug: platform.slug,
      provider_tags: parseName(rom.fs_name, { isFolder: rom.is_folder }).provider_tags,
      stored: new Map([...stored].map(([key, match]) => [key, match.id]))
    }
    const lookups = planLookups(type, identifier.keys, providers, subject)
    const found = await identifier.identify(toSdkRom(rom, files, platform, config), lookups)
    const { all, dropped } = combine(stored, found.matches, found.misses, isFresh)
    progress.add({ failed_lookups: found.failures })
    if (found.matches.size === 0 && dropped.length === 0 && !isFresh) return
    const merged = { ...mergeMatches(all, toMergeBase(rom, isFresh), priorities), is_identified: isIdentified(all) }
    await writer.add({ rom_id: rom.id, matches: found.matches, dropped, merged })
    if (merged.is_identified) progress.add({ identified_roms: 1 })
    fetchArtwork(rom, platform.id, merged)
    await services.announce([rom.id], { is_new: isNew, is_identifying: false })
  }

  async function load (due: readonly DueRom[]) {
    const ids = due.map((rom) => rom.id)
    const em = app.orm.em.fork()
    const [roms, files, matches] = await Promise.all([
      em.find(Rom, { id: ids }), app.orm.em.fork().find(RomFileEntity, { rom: ids }), store.listMatches(ids)
    ])
    return { roms, files: Map.groupBy(files, (file) => file.rom.id), matches }
  }

  return {
    /** Queues lookups; waits while too many are under way, so that the disk never runs far ahead of the providers. */
    async add (due: readonly DueRom[], platform: ScannedPlatform): Promise<void> {
      if (identifier.keys.length === 0) return
      for (let start = 0; start < due.length; start += LOAD_MAX) {
        await pipeline.onSizeLessThan(LOAD_MAX)
        signal.throwIfAborted()
        const part = due.slice(start, start + LOAD_MAX)
        const isNew = new Map(part.map((rom) => [rom.id, rom.isNew]))
        const { roms, files, matches } = await load(part)
        for (const rom of roms) {
          pipeline.add(() => identifyOne(rom, files.get(rom.id) ?? [], matches.get(rom.id) ?? new Map(),
            isNew.get(rom.id) === true, platform), { signal }).catch((err: unknown) => {
            if (!signal.aborted) {
              progress.problem({ platform: platform.fs_slug, path: rom.fs_name, reason: `not identified: ${(err as Error).message}` })
            }
          })
        }
      }
    },

    /** Waits until everything queued is looked up, written and fetched. */
    async finish (): Promise<void> {
      await pipeline.onIdle()
      await writer.flush()
      await Promise.allSettled([...fetches])
      signal.throwIfAborted()
    }
  }
}
