import { Migration } from '@mikro-orm/migrations'

/** Columns for apps: the id with which a device was registered, and the reason why a pairing code is invalid. */
export class Migration20261122000400 extends Migration {
  override up (): void {
    this.addSql('alter table "devices" add column "is_numbered" boolean not null default false')
    this.addSql('update "devices" set "is_numbered" = "client" is null and "client_version" is null')
    this.addSql('alter table "pairing_codes" alter column "token_id" drop not null')
    this.addSql('alter table "pairing_codes" drop constraint "pairing_codes_token_id_foreign"')
    this.addSql('alter table "pairing_codes" add constraint "pairing_codes_token_id_foreign" foreign key ("token_id") references "client_tokens" ("id") on delete set null')
  }
}
