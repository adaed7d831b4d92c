import type { ImporterDefinition } from '../contract.ts'

/** Reads the gamelist.xml files of ES-DE, Batocera, RetroBat and other EmulationStations. */
export const gamelistImporter: ImporterDefinition = {
  key: 'gamelist',
  title: 'ES-DE, Batocera or RetroBat',
  options: {
    folder: {
      description: 'The frontend\'s folder of ROMs, with a folder for each system; for Batocera /userdata/roms',
      required: true,
      isPath: true
    },
    gamelists: {
      description: 'ES-DE\'s folder of gamelists, ~/ES-DE/gamelists; by default each system\'s folder has its own',
      isPath: true
    },
    media: { description: 'ES-DE\'s folder of media, ~/ES-DE/downloaded_media', isPath: true }
  },

  open: async (settings, context) => (await import('./open.ts')).openGamelists(settings, context)
}
