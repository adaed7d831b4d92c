import { Migration } from '@mikro-orm/migrations'

/** Tables of users' favourite tracks and playlists. */
export class Migration20261122190100 extends Migration {
  override up (): void {
    this.addSql(`create table "music_playlists" (
      "id" serial primary key,
      "user_id" int not null,
      "name" text not null,
      "description" text null,
      "is_public" boolean not null default false,
      "created_at" timestamptz(3) not null default now(),
      "updated_at" timestamptz(3) not null default now())`)
    this.addSql(`create table "music_playlist_tracks" (
      "playlist_id" int not null,
      "file_id" int not null,
      "position" int not null,
      primary key ("playlist_id", "file_id"))`)
    this.addSql(`create table "music_favorites" (
      "user_id" int not null,
      "file_id" int not null,
      primary key ("user_id", "file_id"))`)
    this.addSql('alter table "music_playlists" add constraint "music_playlists_user_id_name_unique" unique ("user_id", "name")')
    this.addSql('alter table "music_playlists" add constraint "music_playlists_user_id_foreign" foreign key ("user_id") references "users" ("id") on delete cascade')
    this.addSql('alter table "music_playlist_tracks" add constraint "music_playlist_tracks_playlist_id_foreign" foreign key ("playlist_id") references "music_playlists" ("id") on update cascade on delete cascade')
    this.addSql('alter table "music_playlist_tracks" add constraint "music_playlist_tracks_file_id_foreign" foreign key ("file_id") references "rom_files" ("id") on update cascade on delete cascade')
    this.addSql('alter table "music_favorites" add constraint "music_favorites_user_id_foreign" foreign key ("user_id") references "users" ("id") on update cascade on delete cascade')
    this.addSql('alter table "music_favorites" add constraint "music_favorites_file_id_foreign" foreign key ("file_id") references "rom_files" ("id") on update cascade on delete cascade')
    for (const table of ['music_playlist_tracks', 'music_favorites']) {
      this.addSql(`create index "${table}_file_id_index" on "${table}" ("file_id")`)
    }
  }
}
