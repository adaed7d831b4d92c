import type { Db } from '../../core/database/db.ts'

/** The tables that a dry run writes. It leaves texts of platforms and matches of ROMs out, which change no count. */
const TABLES = [
  'imported_ids', 'permission_groups', 'permission_grants', 'users', 'permission_overrides', 'provider_accounts', 'hidden_entities',
  'rom_users', 'notes', 'devices', 'assets', 'asset_versions', 'device_syncs', 'sync_bases', 'sync_sessions', 'play_sessions',
  'client_tokens', 'collections', 'collection_roms', 'smart_collections', 'music_playlists', 'music_playlist_tracks', 'music_favorites'
]
/** The first id of a planned row, which no row of this server has. */
const PLANNED_MIN = 2_000_000_000

interface TableFacts {
  /** The name with its schema. */
  source: string
  /** The columns that a copy inserts. */
  columns: string
  has_id: boolean
}

const FACTS = `select format('%I.%I', n.nspname, c.relname) as source,
    string_agg(quote_ident(a.attname), ', ') as columns, bool_or(a.attname = 'id' and a.atthasdef) as has_id
  from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid
  where c.oid = $1::regclass and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' group by n.nspname, c.relname`

async function copyTable (tx: Db, name: string): Promise<void> {
  const { rows: [facts] } = await tx.query<TableFacts>(FACTS, [name])
  if (facts === undefined) throw new TypeError(`There is no table ${name}`)
  const { source, columns, has_id: hasId } = facts
  await tx.query(`create temporary table ${name} (like ${source} including all) on commit drop`)
  if (hasId) {
    await tx.query(`create temporary sequence planned_${name} minvalue ${PLANNED_MIN} owned by pg_temp.${name}.id`)
    const nextId = `nextval('pg_temp.planned_${name}')`
    await tx.query(`alter table pg_temp.${name} alter column id set default ${nextId}`)
  }
  await tx.query(`insert into pg_temp.${name} (${columns}) select ${columns} from ${source}`)
}

/**
 * Copies the tables that an import writes into temporary ones, which hide them until the transaction ends. Then makes
 * the transaction read-only: PostgreSQL refuses writes and row locks of other tables, so nobody waits for it.
 */
export async function hideTables (tx: Db): Promise<void> {
  for (const name of TABLES) await copyTable(tx, name)
  // A statement that was prepared before would go on to mean the hidden table.
  await tx.query('discard plans')
  await tx.query('set transaction read only')
}
