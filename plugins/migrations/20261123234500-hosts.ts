import { Migration } from '@mikro-orm/migrations'

/** The host of each process: its start of the server, machine, release, and the address on which others reach it. */
export class Migration20261123234500 extends Migration {
  override up (): void {
    this.addSql(`alter table workers
      add column host_id text not null default '',
      add column host_name text not null default '',
      add column release text not null default '',
      add column address text,
      add column clock_ahead_ms int not null default 0,
      add column duties text[] not null default '{}'`)
  }
}
