import { Migration } from '@mikro-orm/migrations'

const addColumn = (table: string) => `alter table ${table} add column content_device_id int,
    add constraint ${table}_content_device_id_foreign foreign key (content_device_id) references devices on delete set null;
  create index ${table}_content_device_id_index on ${table} (content_device_id)`

/** The device that sent each content of an asset. It is known for assets that still have their first content. */
export class Migration20261123235000 extends Migration {
  override up (): void {
    this.addSql(addColumn('assets'))
    this.addSql(addColumn('asset_versions'))
    this.addSql(`update assets a set content_device_id = origin_device_id
      where origin_device_id is not null and not exists (select from asset_versions v where v.asset_id = a.id)`)
  }
}
