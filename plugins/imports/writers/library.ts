import type { ProviderId } from '@svc/plugin-sdk'
import { Value } from '@sinclair/typebox/value'
import { type TSchema, Type } from '@sinclair/typebox'
import { applyEdit } from '../../editing/apply-edit.ts'
import { type EditCall, TEXTS } from '../../editing/edit-call.ts'
import { type MatchWrite, writeMatches } from '../../matching/match-rows.ts'
import { type ProviderMatch, isIdentified } from '../../matching/matches.ts'
import { type Priorities, readPriorities } from '../../matching/merge-matches.ts'
import { type StoredRom, loadStoredRoms } from '../../matching/stored-rows.ts'
import { fillPlatformTexts, findPlatforms } from '../../platforms/import-rows.ts'
import { createIdCheck } from '../../plugins/providers.ts'
import type { ManualMetadata } from '../../roms/entities.ts'
import type { MANUAL_FIELDS } from '../../roms/game-fields.ts'
import { pairRoms } from '../../roms/import-rows.ts'
import type { ImportRecord } from '../contract.ts'
import type { Batch, Stored, Writer } from './writer.ts'

type ImportedRom = ImportRecord<'rom'>

export const platformWriter: Writer<'platform'> = {
  kind: 'platform',
  idOf: ({ id }) => id,
  nameOf: ({ fs_slug: folder }) => folder,
  async write ({ tx, services }, records) {
    const found = await findPlatforms(tx, records.map((record) => record.fs_slug))
    const texts = records.flatMap(({ fs_slug: folder, custom_name: name, description }) => {
      const platform = found.get(folder)
      return platform === undefined ? [] : [{ id: platform.id, custom_name: name, description }]
    })
    if (!services.isDryRun) await fillPlatformTexts(tx, texts)
    return records.map(({ fs_slug: folder, slug }) => {
      const platform = found.get(folder)
      if (platform === undefined) return { reason: `no library here has a platform folder '${folder}'; add it, run svc scan, then import again` }
      if (slug !== null && slug !== platform.slug) {
        services.warn(`The platform folder '${folder}' is '${slug}' there and '${platform.slug}' here; ` +
          `to follow, set system.platforms.${folder}: ${slug} in config.yml and scan again`)
      }
      return { id: platform.id, as: 'present' }
    })
  }
}

/** Finds the ROMs of this server that the records mean. */
async function pair ({ tx, refs }: Batch, records: readonly ImportedRom[]): Promise<(number | null)[]> {
  const platforms = await refs.find('platform', records.map((record) => record.platform_id))
  return await pairRoms(tx, records.map((record) => ({
    platform_id: platforms.get(record.platform_id) ?? null,
    fs_name: record.fs_name,
    size: record.fs_size_bytes,
    sha1: record.sha1?.toLowerCase() ?? null,
    md5: record.md5?.toLowerCase() ?? null,
    crc: record.crc?.toLowerCase() ?? null
  })))
}

const Strings = Type.Array(Type.String({ maxLength: 1_000 }), { maxItems: 1_000 })
const ManualSchema = Type.Partial(Type.Object({
  genres: Strings,
  franchises: Strings,
  companies: Strings,
  game_modes: Strings,
  age_ratings: Strings,
  first_release_date: Type.Integer(),
  youtube_video_id: Type.String({ maxLength: 100 })
} satisfies Record<typeof MANUAL_FIELDS[number], unknown>))

/** Returns the values of known fields and types; null for none. */
function readManual (given: ImportedRom['manual_metadata']): ManualMetadata | null {
  const known = Object.entries(given ?? {}).filter(([name, value]) => {
    const schema = (ManualSchema.properties as Record<string, TSchema | undefined>)[name]
    return schema !== undefined && Value.Check(schema, value)
  })
  return known.length === 0 ? null : Object.fromEntries(known)
}

/** Returns the games of a record that are new here, by provider. The first of them has the name and the text. */
function readMatches (
  record: ImportedRom, stored: StoredRom['stored'], isIdOf: (key: string, id: unknown) => boolean
): Map<string, ProviderMatch> {
  const ids = Object.entries(record.provider_ids).flatMap(([key, text]): [string, ProviderId][] => {
    const id = /^\d{1,15}$/.test(text) && isIdOf(key, Number(text)) ? Number(text) : text
    return isIdOf(key, id) ? [[key, id]] : []
  })
  const isWanted = (key: string) => !stored.has(key) || record.locked.includes(key)
  // A value that a person set is locked, unless providers give the same one.
  const isFound = (name: 'name' | 'summary') => record[name] !== null && !record.locked.includes(name)
  const fields = { ...(isFound('name') ? { name: record.name } : {}), ...(isFound('summary') ? { summary: record.summary } : {}) }
  return new Map(ids.filter(([key]) => isWanted(key)).map(([key, id], place) =>
    [key, { id, ...(place === 0 ? fields : {}) } as ProviderMatch]))
}

interface MatchRules {
  isIdOf: (key: string, id: unknown) => boolean
  providers: Parameters<typeof isIdentified>[1]
  priorities: Priorities
}

/** Returns the write of a record's games and field locks; null if there is nothing to write. */
function toWrite (record: ImportedRom, { rom, stored }: StoredRom, rules: MatchRules): MatchWrite | null {
  const newMatches = readMatches(record, stored, rules.isIdOf)
  const manual = readManual(record.manual_metadata)
  const texts = Object.fromEntries(TEXTS.flatMap((name) => {
    const value = name === 'url_cover' || name === 'url_manual' ? null : record[name]
    return value !== null && record.locked.includes(name) && !rom.own_fields.includes(name) ? [[name, value]] : []
  })) as EditCall['texts']
  if (newMatches.size === 0 && manual === null && Object.keys(texts).length === 0) return null
  const matches = new Map([...stored, ...newMatches])
  const locked = record.locked.filter((key) => newMatches.has(key))
  const { merged, ...edit } = applyEdit(rom, { matches, ids: locked, records: [] }, {
    texts, unlock: [], ...(manual === null ? {} : { manual_metadata: { ...manual, ...rom.manual_metadata } })
  }, rules.priorities)
  return {
    rom_id: rom.id,
    edits: rom.edits,
    matches: newMatches,
    explanations: new Map(),
    dropped: [],
    merged: { ...merged, is_identified: isIdentified(matches, rules.providers) },
    edit
  }
}

/** Stores provider ids as matches, and values that people set as field locks. */
async function writeGames (
  { tx, services: { app, config } }: Batch, pairs: ReadonlyMap<number, ImportedRom>
): Promise<void> {
  const { providers } = app.registry
  const rules = { isIdOf: createIdCheck(app.registry), providers, priorities: readPriorities(config, providers) }
  const stored = await loadStoredRoms(tx, [...pairs.keys()])
  const writes = [...pairs].flatMap(([id, record]) => {
    const rom = stored.get(id)
    const write = rom === undefined ? null : toWrite(record, rom, rules)
    return write === null ? [] : [write]
  })
  if (writes.length > 0) await writeMatches(tx, writes)
}

export const romWriter: Writer<'rom'> = {
  kind: 'rom',
  idOf: ({ id }) => id,
  nameOf: ({ fs_name: name }) => name,
  async write (batch, records) {
    const ids = await pair(batch, records)
    const pairs = new Map<number, ImportedRom>()
    for (const [index, record] of records.entries()) {
      const id = ids[index] ?? null
      if (id !== null && !pairs.has(id)) pairs.set(id, record)
    }
    if (!batch.services.isDryRun) await writeGames(batch, pairs)
    return ids.map((id): Stored => id === null
      ? { reason: 'no file of this name and none of this content is in the library here; add it, run svc scan, then import again' }
      : { id, as: 'present' })
  }
}
