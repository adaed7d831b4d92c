import { Migration } from '@mikro-orm/migrations'

/** The platform folders of the running library scan, each of which one scan worker leases. */
export class Migration20261123233000 extends Migration {
  override up (): void {
    this.addSql(`create table scan_parts (
      task_id uuid not null,
      library_id int not null,
      folder text not null,
      position int not null,
      entries int not null,
      counts_platform boolean not null,
      state text not null default 'waiting',
      holder text,
      token uuid,
      expires_at timestamptz(3),
      platform_id int,
      stats jsonb not null default '{}',
      problems jsonb not null default '[]',
      problem_count int not null default 0,
      primary key (task_id, library_id, folder),
      constraint scan_parts_state_check check (state in ('waiting', 'leased', 'read', 'done')),
      constraint scan_parts_task_id_foreign foreign key (task_id) references tasks on delete cascade)`)
  }
}
