import type { FastifyInstance } from 'fastify'
import { listEntries } from '../../core/library/entries.ts'
import { type Structure, romsPath } from '../../core/library/structure.ts'
import { Rom } from '../roms/entities.ts'
import type { ScannedPlatform } from './identification.ts'
import type { PlatformScanServices } from './platform-scan.ts'
import { hashEntry, toFileRows, toRomRow, unhashed } from './rom-rows.ts'

/**
 * Scans just some ROMs, whatever the type's own choice would be: their files are rebuilt and their names read again.
 * No folder is listed and no other ROM is marked missing.
 *
 * @returns the ids of their platforms
 */
export async function scanRoms (
  app: FastifyInstance, ids: readonly number[], services: PlatformScanServices, structure: Structure
): Promise<number[]> {
  const { progress, signal } = services
  const roms = await app.orm.em.fork().find(Rom, { id: [...ids] }, { populate: ['platform'] })
  const byPlatform = Map.groupBy(roms, (rom) => rom.platform.id)
  progress.add({ total_platforms: byPlatform.size, total_roms: roms.length })
  for (const [id, own] of byPlatform) {
    signal.throwIfAborted()
    const row = own[0]?.platform
    if (row === undefined) continue
    const platform: ScannedPlatform = {
      id, slug: row.slug, fs_slug: row.fs_slug, name: row.custom_name ?? row.name, fs_path: romsPath(structure, row.fs_slug)
    }
    progress.add({ scanned_platforms: 1 })
    for (const rom of own) await scanOne(rom, platform, services)
  }
  return [...byPlatform.keys()]
}

async function scanOne (rom: Rom, platform: ScannedPlatform, services: PlatformScanServices): Promise<void> {
  const { store, progress, signal, hasher, rules, libraryDir } = services
  signal.throwIfAborted()
  progress.add({ scanned_roms: 1 })
  const only = { ...rules, isExcludedSingle: (name: string) => name !== rom.fs_name, isExcludedMulti: (name: string) => name !== rom.fs_name }
  const listing = listEntries({ libraryDir, folder: platform.fs_path, rules: only, signal })
  const entry = (await listing.entries.next()).value
  await listing.entries.return()
  for (const { path, reason } of listing.problems) progress.problem({ platform: platform.fs_slug, path, reason })
  if (entry === undefined) {
    if (listing.problems.length === 0) await store.markMissing([rom.id], true)
    return
  }
  const hashes = services.hashes(platform.slug) ? await hashEntry(entry, hasher, signal) : unhashed(entry)
  if (services.type === 'complete') await services.dropArtwork([rom.id], platform)
  const row = toRomRow(entry, platform.fs_path, hashes, rom.id, true)
  const [written] = await store.write(platform.id, [{ row, files: toFileRows(entry, hashes) }])
  progress.add({ updated_roms: 1, new_files: written?.newFiles ?? 0 })
  await services.announce([rom.id], { is_new: false, is_identifying: services.selected.length > 0 })
  await services.identify([{ id: rom.id, isNew: false }], platform)
}
