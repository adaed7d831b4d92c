import { Migration } from '@mikro-orm/migrations'

/** Each user's settings and progress at a provider. Before, RetroAchievements had columns of its own. */
export class Migration20261122010400 extends Migration {
  override up (): void {
    this.addSql(`create table "provider_accounts" (
      "user_id" int not null,
      "provider" text not null,
      "settings" jsonb not null,
      "progress" jsonb null,
      primary key ("user_id", "provider"))`)
    this.addSql(`alter table "provider_accounts" add constraint "provider_accounts_user_id_foreign"
      foreign key ("user_id") references "users" ("id") on delete cascade`)
    this.addSql(`insert into "provider_accounts" ("user_id", "provider", "settings")
      select "id", 'ra', jsonb_build_object('ra_username', "ra_username") from "users" where "ra_username" is not null`)
    this.addSql('alter table "users" drop column "ra_username", drop column "ra_progression"')
  }
}
