import type { Tag } from '../core/web/openapi.ts'

const TAGS = {
  heartbeat: 'The state and the features of the server',
  auth: 'Sign-in by password or by an OpenID provider, and password resets',
  sessions: 'Signed-in browsers',
  'client-tokens': 'Credentials of apps and scripts, with scopes, and pairing by a code',
  'device-authorization': 'Pairing of devices that can only show a code',
  users: 'Accounts, invites, profiles and avatars',
  permissions: 'Groups, grants, hidden platforms and ROMs, and age limits',
  libraries: 'Root folders that contain the platform folders',
  platforms: 'Systems, each with a folder of ROMs',
  roms: 'Games: lists, details, editing, files, downloads, notes and patches',
  search: 'Games and covers from metadata providers, for a person to choose from',
  music: 'The soundtracks of all games, with favourites and playlists',
  collections: 'Lists of ROMs across platforms: manual, by a stored filter, and by common properties',
  firmware: 'BIOS files',
  saves: 'Saves with their versions, by game, slot and device',
  states: 'Save states with their versions',
  screenshots: 'Screenshots that belong to saves, states and players',
  devices: 'Handhelds and desktops of a user',
  sync: 'The saves and states that a device and the server exchange',
  installs: 'Requests to a device to install a ROM',
  activity: 'Current players and their games',
  netplay: 'Rooms in which people play one game together, by the socket endpoint `/netplay/socket.io`',
  streaming: 'Games that run on other machines and are watched in the browser',
  'play-sessions': 'Played games and play time',
  notifications: 'The inbox of a user',
  'notification-channels': 'Channels that forward notifications',
  exports: 'Lists of games for frontends',
  feeds: 'Lists of games for consoles and launchers',
  tasks: 'Scans and all other work in the background',
  plugins: 'Metadata providers, channel types and exporters',
  config: 'Settings of the server',
  stats: 'Size of the library, and play time',
  audit: 'Security events and actions of users',
  logs: 'Log lines of all processes of the server',
  metrics: 'Measurements of all processes of the server'
}

/** The groups of operations, in the order in which a new reader needs them. */
export const tags: readonly Tag[] = Object.entries(TAGS).map(([name, description]) => ({ name, description }))
