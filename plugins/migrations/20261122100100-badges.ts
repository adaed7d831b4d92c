import { Migration } from '@mikro-orm/migrations'

/** The stored badges of a game's achievements. */
export class Migration20261122100100 extends Migration {
  override up (): void {
    this.addSql('alter table "roms" add column "badges" text[] not null default \'{}\'')
  }
}
