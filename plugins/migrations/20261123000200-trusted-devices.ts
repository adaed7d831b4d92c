import { Migration } from '@mikro-orm/migrations'

/** Existing SSH settings date from the time when only the owner's role counted. */
export class Migration20261123000200 extends Migration {
  override up (): void {
    this.addSql('alter table "devices" add column "is_ssh_trusted" boolean not null default true')
  }
}
