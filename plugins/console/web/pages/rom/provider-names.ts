/** The names of the providers that come with the server. */
const NAMES: Readonly<Record<string, string>> = {
  igdb: 'IGDB',
  sgdb: 'SteamGridDB',
  moby: 'MobyGames',
  ss: 'ScreenScraper',
  ra: 'RetroAchievements',
  launchbox: 'LaunchBox',
  hasheous: 'Hasheous',
  tgdb: 'TheGamesDB',
  flashpoint: 'Flashpoint',
  hltb: 'HowLongToBeat',
  gamelist: 'gamelist.xml',
  libretro: 'libretro',
  playmatch: 'Playmatch',
  demozoo: 'Demozoo',
  pouet: 'Pouët',
  csdb: 'CSDb',
  steam: 'Steam'
}

/** Returns the name of a provider; its key if a plugin brought it. */
export const providerName = (key: string): string => NAMES[key] ?? key
