/** Stores the id of every deleted row, also if the database deletes the row together with its platform. */
const KEEP_PLATFORM = `create function keep_former_platform () returns trigger language plpgsql as $$ begin
  insert into former_platforms (fs_slug, id, custom_name, description)
    values (old.fs_slug, old.id, old.custom_name, old.description)
    on conflict (fs_slug) do update set id = excluded.id, custom_name = excluded.custom_name, description = excluded.description;
  return old;
end $$`

/** The columns that field locks protect. */
const LOCKED = ['id', 'platform_id', 'own_fields', 'manual_metadata', 'edits', 'name', 'name_sort_key', 'summary', 'url_cover',
  'path_cover_large', 'path_cover_small', 'url_manual', 'path_manual']

/** Matches that a person chose or wrote are stored with the field locks that name them. */
const LOCKS = `case when old.own_fields <> '{}' or jsonb_typeof(old.manual_metadata) = 'object' then jsonb_build_object(
    'rom', jsonb_build_object(${LOCKED.map((name) => `'${name}', old.${name}`).join(', ')}),
    'matches', coalesce((select jsonb_agg(to_jsonb(m)) from rom_matches m where m.rom_id = old.id
      and old.own_fields && array[m.provider || '_id', 'raw_' || m.provider || '_metadata']), '[]')) end`

const KEEP_ROM = `create function keep_former_rom () returns trigger language plpgsql as $$ begin
  insert into former_roms (id, library_id, platform_id, fs_name, fs_size_bytes, sha1_hash, locks)
    values (old.id, old.library_id, old.platform_id, old.fs_name, old.fs_size_bytes, old.sha1_hash, ${LOCKS});
  return old;
end $$`

/** Triggers that store deleted platforms and ROMs. A deleted ROM keeps its field locks until its file returns. */
export const former = [
  KEEP_PLATFORM, KEEP_ROM,
  'create trigger keep_former before delete on platforms for each row execute function keep_former_platform()',
  'create trigger keep_former before delete on roms for each row execute function keep_former_rom()'
]
