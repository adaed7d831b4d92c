import type { ProviderDefinition, TitleTable } from '@svc/plugin-sdk'
import type { Logger } from 'pino'
import { parseName } from '../library/names.ts'
import type { CallScope } from '../../core/loader/calls/call-scope.ts'
import type { Loaded } from '../../core/loader/registry.ts'
import { serialOf } from './sdk-rom.ts'
import type { LookupRom } from './stored-rows.ts'

type TitledRom = Pick<LookupRom, 'id' | 'fs_name' | 'fs_name_no_tags' | 'is_folder'>

/** Looks up the titles of ROMs of one platform, all at once. */
export type Titles = (roms: readonly TitledRom[], platformSlug: string) =>
Promise<(rom: TitledRom) => readonly string[]>

const PLATFORMS_OF: Readonly<Record<TitleTable, ReadonlySet<string>>> = {
  mame: new Set(['arcade', 'neogeoaes', 'neogeomvs', 'cps1', 'cps2', 'cps3']),
  scummvm: new Set(['scummvm']),
  sony: new Set(['psx', 'ps2', 'psp']),
  switch: new Set(['switch'])
}

/** Returns the key of a ROM in a table. */
function keyOf (table: TitleTable, rom: TitledRom): string | null {
  if (table === 'mame' || table === 'scummvm') return rom.fs_name_no_tags.toLowerCase()
  return serialOf(rom)?.toUpperCase() ?? null
}

/** Removes tags that tables add, such as `(World 910522)`. */
const toTitle = (value: unknown) => typeof value === 'string' ? parseName(value, { isFolder: true }).fs_name_no_tags : ''

/**
 * Creates the lookup of titles by short names, serials and title ids, in the tables of the providers' local indexes.
 */
export function createTitles (
  providers: ReadonlyMap<string, Loaded<ProviderDefinition>>, scope: CallScope, log: Logger
): Titles {
  const tables = [...providers.values()].flatMap((provider) => Object.entries(provider.definition.index?.titles ?? {})
    .map(([table, prefix]) => ({ provider, table: table as TitleTable, prefix })))

  return async (roms, slug) => {
    const titles = new Map<number, string[]>()
    for (const { provider, table, prefix } of tables.filter((one) => PLATFORMS_OF[one.table].has(slug))) {
      const keys = new Map(roms.flatMap((rom) => {
        const key = keyOf(table, rom)
        return key === null ? [] : [[rom.id, prefix + key] as const]
      }))
      try {
        const { index } = provider.context(scope)
        // Skip an index that was never built, because titles are not worth the long wait. The next scan uses the index.
        if (keys.size === 0 || await index.builtAt() === undefined) continue
        const found = await index.getMany([...new Set(keys.values())])
        for (const [id, key] of keys) {
          const similar = (found.get(key) ?? []).map(toTitle).filter(Boolean)
          titles.set(id, [...titles.get(id) ?? [], ...similar])
        }
      } catch (err) {
        scope.signal.throwIfAborted()
        log.warn({ err, provider: provider.key }, 'titles could not be loaded')
      }
    }
    return ({ id }) => titles.get(id) ?? []
  }
}
