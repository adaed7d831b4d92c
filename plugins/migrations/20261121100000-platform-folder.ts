import { Migration } from '@mikro-orm/migrations'

/** The inode of a platform's folder, which distinguishes the folder from a mount point without its disk. */
export class Migration20261121100000 extends Migration {
  override up (): void {
    this.addSql('alter table "platforms" add column "fs_inode" text null')
  }
}
