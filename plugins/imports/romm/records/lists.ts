import type { Importer, ImportRecord, RecordKind } from '../../contract.ts'
import { listGroups, listHidden, listUsers } from './accounts.ts'
import { listAssets } from './assets.ts'
import { listCollections, listFavoriteTracks, listPlaylists, listSmartCollections } from './collections.ts'
import { listDevices, listDeviceSyncs, listPlaySessions, listSyncSessions, listTokens } from './devices.ts'
import { listPlatforms, listRoms } from './library.ts'
import { listMarks, listNotes } from './personal.ts'
import type { RommSource } from './source.ts'

type Lists = { [Kind in RecordKind]: (source: RommSource) => AsyncIterable<ImportRecord<Kind>> }

/** The list of each kind of record. */
export const LISTS: Lists = {
  group: listGroups,
  user: listUsers,
  platform: listPlatforms,
  rom: listRoms,
  hidden: listHidden,
  mark: listMarks,
  note: listNotes,
  device: listDevices,
  asset: listAssets,
  device_sync: listDeviceSyncs,
  sync_session: listSyncSessions,
  play_session: listPlaySessions,
  token: listTokens,
  collection: listCollections,
  smart_collection: listSmartCollections,
  playlist: listPlaylists,
  favorite_track: listFavoriteTracks
}

/** The table of each kind that not every release of RomM has. */
const TABLES: Partial<Record<RecordKind, string>> = {
  group: 'permission_groups',
  hidden: 'hidden_entities',
  device: 'devices',
  device_sync: 'device_save_sync',
  sync_session: 'sync_sessions',
  play_session: 'play_sessions',
  token: 'client_tokens',
  smart_collection: 'smart_collections',
  playlist: 'music_playlists',
  favorite_track: 'music_favorite_tracks'
}

/** Finds the kinds that this release of RomM does not have. */
export function findAbsentKinds ({ tables }: RommSource, release: string): Importer['absent'] {
  return Object.fromEntries(Object.entries(TABLES).filter(([, table]) => !tables.hasTable(table))
    .map(([kind, table]) => [kind, `RomM ${release} has no table ${table}`]))
}
