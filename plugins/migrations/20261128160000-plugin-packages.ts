import { Migration } from '@mikro-orm/migrations'

/** The plugin packages of all hosts, and the reason why a process has others. */
export class Migration20261128160000 extends Migration {
  override up (): void {
    this.addSql(`create table plugin_packages (name text primary key, version text, sha256 text not null, tarball bytea,
      signature text not null, stored_at timestamptz(3) not null default now())`)
    this.addSql('alter table workers add column plugins_problem text')
  }
}
