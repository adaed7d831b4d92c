import { Migration } from '@mikro-orm/migrations'

/** The processes that write chunks into the files of uploads. */
export class Migration20261130190000 extends Migration {
  override up (): void {
    this.addSql(`create table rom_upload_writes (
        id uuid primary key,
        upload_id uuid not null,
        worker_id text not null,
        constraint rom_upload_writes_upload_id_foreign foreign key (upload_id) references rom_uploads on delete cascade);
      create index rom_upload_writes_upload_id_index on rom_upload_writes (upload_id)`)
  }
}
