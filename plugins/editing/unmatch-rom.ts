import type { FastifyInstance } from 'fastify'
import type { Config } from '../../core/config/config.ts'
import type { CallScope } from '../../core/loader/calls/call-scope.ts'
import { nameSortKey } from '../library/names.ts'
import { type ProviderMatches, isIdentified } from '../matching/matches.ts'
import { toMergeBase } from '../matching/merge-base.ts'
import { mergeMatches, readPriorities } from '../matching/merge-matches.ts'
import type { RomForLookup } from '../matching/rom-for-lookup.ts'
import { NO_COVER } from './download-pictures.ts'
import { storedIdOf } from './edited-matches.ts'
import { createPictures } from './pictures.ts'
import { storeEdit } from './store-edit.ts'

/** Unmatching keeps this provider, because its id comes from a file beside the ROM and identifies no game elsewhere. */
const UNMATCH_KEEPS = 'gamelist'

/** Removes all matches of a ROM. `manual_metadata` and an existing manual stay. */
export async function unmatchRom (
  app: FastifyInstance, config: Config, rom: RomForLookup, scope: CallScope
): Promise<void> {
  const id = storedIdOf(rom, UNMATCH_KEEPS)
  const matches: ProviderMatches = id === null ? new Map() : new Map([[UNMATCH_KEEPS, { id }]])
  const { fs_name: name, path_manual: manual, manual_metadata: ownMetadata, edits } = rom.rom
  const ownFields = rom.rom.own_fields.filter((field) => field === 'url_manual')
  const base = toMergeBase({ ...rom.rom, own_fields: ownFields }, true)
  const merged = mergeMatches(matches, base, readPriorities(config, new Map()))
  await storeEdit(app.db, {
    rom_id: rom.rom.id,
    edits,
    matches,
    explanations: new Map(),
    dropped: [...rom.stored.keys()].filter((key) => !matches.has(key)),
    merged: {
      ...merged, name, name_sort_key: nameSortKey(name), is_identified: isIdentified(matches, app.registry.providers)
    },
    edit: {
      own_fields: ownFields, manual_metadata: ownMetadata ?? null, cover: NO_COVER, path_manual: manual ?? null
    }
  })
  const pictures = createPictures(app, config, { rom, matches, scope })
  await pictures.deleteAll(manual ?? null).finally(pictures.close)
}
