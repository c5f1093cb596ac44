"""Bodies that keep what was handed to them."""

got = []


def frames(out, self, size, count, more):
    got.append((size, count, more))
    out.numpy()[...] = self.numpy()[: out.numel()].reshape(out.shape)


def bounds(low, high, self, word):
    got.append(word)
    low.numpy()[...] = self.numpy().min()
    high.numpy()[...] = self.numpy().max()
