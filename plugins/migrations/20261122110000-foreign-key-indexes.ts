import { Migration } from '@mikro-orm/migrations'

const COLUMNS = [
  ['assets', 'origin_device_id'],
  ['device_authorizations', 'token_id'],
  ['install_requests', 'user_id'],
  ['notifications', 'actor_id'],
  ['sessions', 'device_id'],
  ['users', 'permission_group_id']
] as const

/** Indexes of foreign keys: a deletion finds the rows that refer to the deleted row without a scan of their table. */
export class Migration20261122110000 extends Migration {
  override up (): void {
    for (const [table, column] of COLUMNS) {
      this.addSql(`create index "${table}_${column}_index" on "${table}" ("${column}")`)
    }
  }
}
