export const PATH = '/ws/socket.io'

export const endpoint = `${PATH}/?EIO=4&transport=polling`
