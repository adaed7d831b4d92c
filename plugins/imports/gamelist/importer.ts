import type { ImporterDefinition } from '../contract.ts'

/** Reads the gamelist.xml files of ES-DE, Batocera, RetroBat and other EmulationStations. */
export const gamelistImporter: ImporterDefinition = {
  key: 'gamelist',
  title: 'ES-DE, Batocera or RetroBat',
  options: {
    folder: {
      description: 'Folder of ROMs of the frontend, with a folder for each system; for Batocera /userdata/roms',
      required: true,
      isPath: true
    },
    gamelists: {
      description: 'Folder of gamelists of ES-DE, ~/ES-DE/gamelists; by default each system\'s folder has its own',
      isPath: true
    },
    media: { description: 'Folder of media of ES-DE, ~/ES-DE/downloaded_media', isPath: true }
  },

  open: async (settings, context) => (await import('./open.ts')).openGamelists(settings, context)
}
