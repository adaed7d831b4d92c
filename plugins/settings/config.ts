import { Type } from '@sinclair/typebox'
import { defineSection } from '../../core/config/section.ts'
import { Section } from '../../core/config/setting.ts'

const Off = (description: string) => Type.Boolean({ default: false, description })
const Value = Type.Union([Type.String(), Type.Number(), Type.Boolean()])
const Key = Type.Union([Type.String(), Type.Integer()])

export const emulatorjsConfig = defineSection('emulatorjs', Section({
  debug: Off('Turns on the log of the emulator'),
  cache_limit: Type.Optional(Type.Integer({ minimum: 0, description: 'Maximum size in bytes of a ROM that browsers cache' })),
  disable_auto_unload: Off('Keeps the emulator running when the user leaves the page'),
  disable_batch_bootup: Off('Starts emulators one by one'),
  netplay: Section({
    enabled: Off('Offers to play together'),
    ice_servers: Type.Array(Type.Object({
      urls: Type.String({ minLength: 1, description: 'Address of the server, such as turn:turn.example.org' }),
      username: Type.Optional(Type.String({ description: 'Account on the server, if it requires one' })),
      credential: Type.Optional(Type.String({ description: 'Password of that account' }))
    }), {
      default: [], writeOnly: true, description: 'STUN and TURN servers through which players connect to each other'
    })
  }),
  settings: Type.Record(Type.String(), Type.Record(Type.String(), Value), {
    default: {}, description: 'Core, or default for all → its options'
  }),
  controls: Type.Record(Type.String(), Type.Record(Type.String({ pattern: '^[0-3]$' }),
    Type.Record(Type.String(), Type.Object({ value: Type.Optional(Key), value2: Type.Optional(Key) })),
    { additionalProperties: false }), {
    default: {}, description: 'Core, or default for all → player 0 to 3 → button → key (value) and gamepad button (value2)'
  })
}, 'Settings of the emulator in the browser, for web apps'), { isLive: true })
