import type { Files, Preferences, ProviderDefinition, Rom as SdkRom } from '@svc/plugin-sdk'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../../core/config/config.ts'
import { createFiles } from '../../core/loader/plugin-files.ts'
import { createWithinLibrary } from '../library/linked-folders.ts'
import type { LibraryRoot } from '../library/roots.ts'
import { systemConfig } from '../platforms/config.ts'
import { Rom } from '../roms/entities.ts'
import { knowsPlatform } from './lookup-plan.ts'
import { type ScannedPlatform, readPreferencesFor, toScannedPlatform, toSdkRom } from './sdk-rom.ts'
import { type StoredRom, loadStoredRoms } from './stored-rows.ts'

/** A ROM for lookups outside a scan. */
export interface RomForLookup extends StoredRom {
  platform: ScannedPlatform
  /** True if a provider can know games of the ROM's platform. */
  isSupportedBy (definition: ProviderDefinition): boolean
  preferences: Preferences
  /** The ROM's library; undefined if the library is not configured any more. */
  library: LibraryRoot | undefined
  libraryFiles: Files | undefined
  /** Returns the ROM in the form for a provider. */
  toSdk (definition: ProviderDefinition): SdkRom
}

/** Loads a ROM with its matches and platform; null if there is no such ROM. */
export async function loadRomForLookup (
  app: FastifyInstance, config: Config, id: number
): Promise<RomForLookup | null> {
  const [row, stored] = await Promise.all([
    app.db.em.findOne(Rom, { id }, { populate: ['platform'] }), loadStoredRoms(app.db, [id])
  ])
  const storedRom = stored.get(id)
  if (row === null || storedRom === undefined) return null
  const library = (await app.library.list()).find((root) => root.id === row.library_id)
  const facts = app.platforms.facts(row.platform, systemConfig.of(config))
  const platform = toScannedPlatform(row.platform, facts, row.library_id, row.fs_path)
  return {
    ...storedRom,
    platform,
    isSupportedBy: (definition) => knowsPlatform(definition, platform.slug),
    preferences: readPreferencesFor(storedRom, config),
    library,
    libraryFiles: library && createFiles(library.dir, createWithinLibrary(library)),
    toSdk: toSdkRom(storedRom, [], platform, config)
  }
}
