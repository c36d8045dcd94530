-- Stands before every script, after clock.lua.

-- Numbers leave Lua in plain digits: its own conversion prints 14 of them and then an exponent.
local function text(number)
  return string.format('%.0f', number)
end

-- One command over many values. Lua unpacks some 8,000 at once; an even number keeps fields and values together.
local function callWithAll(command, key, values)
  for first = 1, #values, 4000 do
    redis.call(command, key, unpack(values, first, math.min(first + 3999, #values)))
  end
end
