import { Migration } from '@mikro-orm/migrations'

/** The settings of all hosts, the reason why a process has others, and the digest of its secret key. */
export class Migration20261128210000 extends Migration {
  override up (): void {
    this.addSql(`create table shared_settings (section text primary key, sealed text not null, changed_by text not null,
      changed_at timestamptz(3) not null default now())`)
    this.addSql('alter table workers add column settings_problem text, add column key_digest text')
  }
}
