import { Migration } from '@mikro-orm/migrations'

/** Settings for SSH that are there already were made when the role of the owner alone counted. */
export class Migration20261123000200 extends Migration {
  override up (): void {
    this.addSql('alter table "devices" add column "is_ssh_trusted" boolean not null default true')
  }
}
