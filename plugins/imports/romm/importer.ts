import type { ImporterDefinition } from '../contract.ts'

/** Reads an installation of RomM 4.0 or later: its database or a dump of it, and its folders; or its API. */
export const rommImporter: ImporterDefinition = {
  key: 'romm',
  title: 'RomM',
  options: {
    database_url: {
      description: 'Address of RomM\'s database: mariadb://user:password@host:3306/romm, mysql://… or postgresql://…',
      secret: true
    },
    dump: {
      description: 'File of mysqldump, mariadb-dump or plain pg_dump, also packed by gzip, instead of the database',
      isPath: true
    },
    base_path: { description: 'Folder of RomM with assets and resources; without it no file is imported', isPath: true },
    address: { description: 'Address of a running RomM, such as https://romm.example, instead of its database' },
    token: { description: 'Client token of a RomM account for the address, or its user:password', secret: true }
  },

  open: async (settings, context) => (await import('./open.ts')).openRomm(settings, context)
}
