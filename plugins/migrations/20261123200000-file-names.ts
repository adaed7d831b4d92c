import { Migration } from '@mikro-orm/migrations'

/** Indexes on the names of ROMs, files and archive members without extensions, by which saves find their games. */
export class Migration20261123200000 extends Migration {
  override up (): void {
    this.addSql(`create function archive_member_stems (members jsonb) returns text[] language sql immutable parallel safe as $$
      select array_agg(lower(normalize(regexp_replace(m ->> 'name', '^.*/|\\.[^./]*$', '', 'g'))))
      from jsonb_array_elements(case jsonb_typeof(members) when 'array' then members else '[]' end) m $$`)
    this.addSql(String.raw`create index rom_files_stem on rom_files (lower(normalize(regexp_replace(file_name, '\.[^.]*$', ''))))`)
    this.addSql(`create index rom_files_member_stems on rom_files using gin (archive_member_stems(archive_members))
      where jsonb_typeof(archive_members) = 'array'`)
    this.addSql('create index roms_folded_fs_name on roms (lower(normalize(fs_name)))')
    this.addSql('create index roms_folded_fs_name_no_ext on roms (lower(normalize(fs_name_no_ext)))')
  }
}
