import { Migration } from '@mikro-orm/migrations'

/** Tables of imports from other programs. */
export class Migration20261123110000 extends Migration {
  override up (): void {
    this.addSql(`create table imported_ids (
      source text not null,
      kind text not null,
      old_id text not null,
      new_id int not null,
      created_at timestamptz(3) not null default now(),
      primary key (source, kind, old_id))`)
    this.addSql(`create table import_runs (
      id uuid primary key,
      importer text not null,
      dry_run boolean not null default false,
      report jsonb not null default '{}'::jsonb,
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now())`)
  }
}
