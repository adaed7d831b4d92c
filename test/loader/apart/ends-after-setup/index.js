import { defineProvider } from '@svc/plugin-sdk'

export default defineProvider({
  key: 'ends-after-setup',
  name: 'Ends its process soon after each start',
  id: 'string',
  async setup () {
    setTimeout(() => fetch('https://games.example/'), 50)
  },
  async identify () {
    return undefined
  }
})
