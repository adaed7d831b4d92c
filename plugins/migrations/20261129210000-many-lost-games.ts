import { Migration } from '@mikro-orm/migrations'

/** Of a statement that changes more ROMs, or takes more identities, only the fact is logged. */
const MAX = 2_000

/** The log would lack some of too many identities, and the former siblings would stay as they are in lists. */
const LOG = `create or replace function log_rom_changes (ids int[], lost_games text[] default '{}') returns void language sql as $$
  insert into rom_changes (xid, rom_ids, games)
  select pg_current_xact_id()::text::bigint, case when is_few then ids end, case when is_few then lost_games else '{}' end
  from (select cardinality(ids) <= ${MAX} and cardinality(lost_games) <= ${MAX} as is_few) x
  where ids is null or ids <> '{}'
$$`

/** The log of changed ROMs tells when it lacks identities that a statement took from ROMs. */
export class Migration20261129210000 extends Migration {
  override up (): void {
    this.addSql(LOG)
  }
}
