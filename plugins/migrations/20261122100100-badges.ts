import { Migration } from '@mikro-orm/migrations'

/** The pictures of a game's achievements that are stored. */
export class Migration20261122100100 extends Migration {
  override up (): void {
    this.addSql('alter table "roms" add column "badges" text[] not null default \'{}\'')
  }
}
