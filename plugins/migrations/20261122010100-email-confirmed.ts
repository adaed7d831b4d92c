import { Migration } from '@mikro-orm/migrations'

/** Whether an account's address is known to be its user's; of those that are here already nobody can tell. */
export class Migration20261122010100 extends Migration {
  override up (): void {
    this.addSql('alter table "users" add column "email_confirmed" boolean not null default false')
  }
}
