import { Migration } from '@mikro-orm/migrations'

/** True if an account's address is known to be its user's. For existing accounts that is unknown. */
export class Migration20261122010100 extends Migration {
  override up (): void {
    this.addSql('alter table "users" add column "email_confirmed" boolean not null default false')
  }
}
